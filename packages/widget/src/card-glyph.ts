import { html, type TemplateResult } from "lit";

/** A small picture of a gift, hidden from screen readers. */
export const cardGlyph: TemplateResult = html`<svg class="glyph" part="glyph" viewBox="0 0 24 24" aria-hidden="true">
  <path d="M3 7.500h18V12H3zM5 12v8.500h14V12M12 7.500v13M12 7.500C3 7.500 6 2 9 3s3 4.500 3 4.500 0-3.500 3-4.500 6 4.500-3 4.500" />
</svg>`;
