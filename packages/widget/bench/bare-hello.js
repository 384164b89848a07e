import { html, LitElement } from "lit";

/** The smallest possible Lit element, to measure the cost of Lit alone. */
class BareHello extends LitElement {
  static properties = { name: {} };

  render() {
    return html`<p>Hello ${this.name}</p>`;
  }
}

customElements.define("bare-hello", BareHello);
