import { html, LitElement } from "lit";

/** What Lit alone costs: the smallest element there is. */
class BareHello extends LitElement {
  static properties = { name: {} };

  render() {
    return html`<p>Hello ${this.name}</p>`;
  }
}

customElements.define("bare-hello", BareHello);
