import { html, type TemplateResult } from "lit";

/** The same content in elements of its own when the count goes on: nothing of the earlier ones is used again. */
export function fresh(count: number, content: unknown): TemplateResult {
  // Two templates, though alike: Lit takes over elements only from the very same one.
  return count % 2 ? html`${content}` : html` ${content}`;
}
