import type { LitElement } from "lit";

/**
 * Waits for the render, then focuses the first visible match. It leaves the focus alone if the shopper has moved it to
 * another part of the page.
 * @param selectors tried in order; if none matches and the focused part is gone, `element.focus()` decides
 */
export async function moveFocus(element: LitElement, ...selectors: string[]): Promise<void> {
  const { activeElement } = element.getRootNode() as Document | ShadowRoot;
  if (activeElement && activeElement !== document.body && activeElement !== (element as Element)) return;
  await element.updateComplete;
  for (const selector of selectors) {
    const target = element.renderRoot.querySelector<HTMLElement>(selector);
    if (target?.getClientRects().length) return target.focus();
  }
  if (!element.shadowRoot?.activeElement) element.focus();
}
