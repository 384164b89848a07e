import { html, type TemplateResult } from "lit";

/**
 * The content in new elements each time the number goes one up or down. Lit's own `keyed` is a directive, and the
 * standalone file leaves directives out.
 */
export function keyed(number: number, content: unknown): TemplateResult {
  // Two templates, though alike: Lit keeps elements only for the very same one.
  return number % 2 ? html`${content}` : html` ${content}`;
}
