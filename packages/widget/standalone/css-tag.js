/**
 * Takes the place of Lit's file of this name in the standalone file. Lit's own also serves browsers without adopted
 * style sheets, which those that this element is for all have; others come as far as hearing that they are too old.
 */
export const supportsAdoptingStyleSheets = true;

export const css = ([text]) => text;

export function getCompatibleStyle(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

export function adoptStyles(root, sheets) {
  root.adoptedStyleSheets = sheets;
}

export { css as unsafeCSS, css as CSSResult };
