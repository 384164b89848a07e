import { html, type TemplateResult } from "lit";

/**
 * Renders the content into new elements whenever the number goes up or down by one. Lit's own `keyed` is a directive, and
 * the standalone file has none.
 */
export function keyed(number: number, content: unknown): TemplateResult {
  // These are two templates: Lit reuses elements only if the template literal is the same.
  return number % 2 ? html`${content}` : html` ${content}`;
}
