const logged = new Set<string>();

/** Logs a mistake in the widget's setup for the page's developer, once per text. Never pass data of a call. */
export function hint(text: string): void {
  if (logged.has(text)) return;
  logged.add(text);
  console.warn(`giftcard-pay: ${text}`);
}
