/**
 * Takes the place of Lit's file of this name in the standalone file. Lit's own also serves browsers without adopted
 * style sheets, which those that this element is for all have.
 */
export const supportsAdoptingStyleSheets = true;

export function css([text]) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

export function adoptStyles(root, sheets) {
  root.adoptedStyleSheets = sheets;
}

export const getCompatibleStyle = (style) => style;
export { css as unsafeCSS, css as CSSResult };
