import { normalize } from "./entry-parser.js";

const inGroups = (digits: string) => digits.replace(/\d{4}(?=\d)/g, "$& ");

/**
 * Shows the digits of a field in groups of four, as on a printed card, with the caret after the digits in `before`. Text that
 * has more than digits in it is left as it was typed.
 * @param before the text before the caret
 * @returns whether the field has changed
 */
export function showGroups(
  field: HTMLInputElement,
  before = field.value.slice(0, field.selectionEnd ?? 0),
  after = field.value.slice(before.length),
): boolean {
  const digits = normalize(before + after);
  const grouped = inGroups(digits);
  if (/\D/.test(digits) || grouped === field.value) return false;
  const caret = inGroups(normalize(before)).length;
  // In a field without the focus, a selection would also move the focus there. A window in the background has no `:focus`.
  if ((field.getRootNode() as ShadowRoot).activeElement !== field) field.value = grouped;
  else {
    field.select();
    // Like typing, this can be undone. The browser refuses it during a script's own command.
    if (!document.execCommand("insertText", false, grouped)) field.value = grouped;
    field.setSelectionRange(caret, caret);
  }
  return true;
}

/** Deletes the digit beyond a gap together with the gap, if the browser is about to delete the gap alone. */
export function skipGap(event: InputEvent): void {
  const field = event.target as HTMLInputElement;
  const { value, selectionStart, selectionEnd } = field;
  const back = { deleteContentBackward: 1, deleteContentForward: 0 }[event.inputType] as number;
  const gap = (selectionEnd ?? 0) - back;
  if (selectionStart !== selectionEnd || value[gap] !== " ") return;
  if (showGroups(field, value.slice(0, gap - back), value.slice(gap + 2 - back))) event.preventDefault();
}
