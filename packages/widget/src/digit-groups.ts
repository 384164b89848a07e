import { normalize } from "./entry-parser.js";

const inGroups = (digits: string) => digits.replace(/\d{4}(?=\d)/g, "$& ");

/**
 * Shows the digits of a field in groups of four, as on a printed card. The caret stays behind the same digit. Text that
 * has more than digits in it is left as it was typed.
 */
export function showGroups(field: HTMLInputElement): void {
  const digits = normalize(field.value);
  const grouped = inGroups(digits);
  if (/\D/.test(digits) || grouped === field.value) return;
  const before = normalize(field.value.slice(0, field.selectionEnd ?? 0)).length;
  field.value = grouped;
  const caret = inGroups(digits.slice(0, before)).length;
  // In a field without the focus, this would also move the focus there.
  if ((field.getRootNode() as ShadowRoot).activeElement === field) field.setSelectionRange(caret, caret);
}

/** Moves the caret over a gap that the browser is about to delete, so that it deletes the digit beyond the gap. */
export function skipGap({ target, inputType }: InputEvent): void {
  const field = target as HTMLInputElement;
  const { value, selectionStart: caret, selectionEnd } = field;
  const step = { deleteContentBackward: -1, deleteContentForward: 1 }[inputType];
  if (!step || caret === null || caret !== selectionEnd || /[^\d ]/.test(value)) return;
  if (value[step < 0 ? caret - 1 : caret] === " ") field.setSelectionRange(caret + step, caret + step);
}
