/**
 * Replaces Lit's file of this name in the standalone file. Lit's own also supports browsers without adopted style sheets.
 * Every browser that the widget supports has them, and an older browser logs a hint before any style is used.
 */
export const supportsAdoptingStyleSheets = true;

export const css = (texts, ...values) => String.raw({ raw: texts }, ...values);

export function getCompatibleStyle(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

export function adoptStyles(root, sheets) {
  root.adoptedStyleSheets = sheets;
}

export { css as unsafeCSS, css as CSSResult };
