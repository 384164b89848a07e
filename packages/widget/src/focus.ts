import type { LitElement } from "lit";

/**
 * Renders, then moves the focus to the first of the places that is to be seen. A shopper who went elsewhere on the
 * page meanwhile is left alone.
 * @param selectors with none, or none there: the element's own choice, if what had the focus is gone
 */
export async function moveFocus(element: LitElement, ...selectors: string[]): Promise<void> {
  const { activeElement } = element.getRootNode() as Document | ShadowRoot;
  if (activeElement && activeElement !== document.body && activeElement !== (element as Element)) return;
  await element.updateComplete;
  for (const selector of selectors) {
    const place = element.renderRoot.querySelector<HTMLElement>(selector);
    if (place?.getClientRects().length) return place.focus();
  }
  if (!element.shadowRoot?.activeElement) element.focus();
}
