const given = new Set<string>();

/** Tells a developer, once, in the console, what keeps the widget from working. Nothing that was sent is in it. */
export function hint(text: string): void {
  if (given.has(text)) return;
  given.add(text);
  console.warn(`giftcard-pay: ${text}`);
}
