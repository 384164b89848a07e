/**
 * Reads a percentage that a person typed, with a comma or a point. An `<input type="number">` reads it in the browser's
 * language, which may be another one than the admin's: it then silently drops a comma.
 * @returns the percentage as the API takes it, `""` if nothing is typed, or undefined if it is not a number from 0 to 100
 */
export function readPercent(text: string): string | undefined {
  const typed = text.trim();
  if (typed === "") return "";
  const percent = typed.replace(",", ".");
  return /^\d{1,3}(\.\d{1,4})?$/.test(percent) && Number(percent) <= 100 ? percent : undefined;
}
