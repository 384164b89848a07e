import { html, type TemplateResult } from "lit";

/** A small picture of a gift, hidden from screen readers. */
export const cardGlyph: TemplateResult = html`<svg class="glyph" part="glyph" viewBox="0 0 24 24" aria-hidden="true">
  <path d="M3 8h18v4H3zm2 4v8h14v-8m-7 8V8C3 8 6 2 9 3s3 5 3 5 0-4 3-5 6 5-3 5" />
</svg>`;
