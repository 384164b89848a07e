import type { LitElement } from "lit";

/** Where the focus goes, and what a screen reader hears. */
export class Attention {
  /** The text of the live region. */
  announcement = "";

  constructor(private readonly host: LitElement) {}

  /** Says a text; one that was said just before is made to differ, or it wouldn't be read again. */
  say(text: string): void {
    this.announcement = text === this.announcement ? `${text}\u00a0` : text;
    this.host.requestUpdate();
  }

  /**
   * Renders, then moves the focus to the first of the places that is to be seen. A shopper who went elsewhere on
   * the page meanwhile is left alone.
   * @param selectors with none, or none there: the element's own choice, if what had the focus is gone
   */
  async focusOn(...selectors: string[]): Promise<void> {
    const { host } = this;
    const { activeElement } = host.getRootNode() as Document | ShadowRoot;
    if (activeElement && activeElement !== document.body && activeElement !== (host as Element)) return;
    await host.updateComplete;
    for (const selector of selectors) {
      const place = host.renderRoot.querySelector<HTMLElement>(selector);
      if (place?.checkVisibility()) return place.focus();
    }
    if (!host.shadowRoot?.activeElement) host.focus();
  }
}
