import { html, type TemplateResult } from "lit";

/** A small picture of a gift card, hidden from screen readers. */
export const cardGlyph: TemplateResult = html`<svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
  <rect x="2" y="5" width="20" height="14" rx="2.5" />
  <path d="M2 12h20M9 5v14M9 12l-3.5 3.5M9 12l3.5 3.5" />
</svg>`;
