import { fixture, html, waitUntil } from "@open-wc/testing";
import type { GiftcardPay } from "../src/define.js";
import { expect, makeCart, Widget } from "./shop/page.js";

/** Shows a Dutch page whose language file arrives late. */
async function showLate(late: string): Promise<Widget> {
  const cart = await makeCart();
  const frame = await fixture<HTMLIFrameElement>(html`<iframe title="shop" width="400" height="400"></iframe>`);
  frame.src = `/shop/strict?cart=${cart.id}&lang=nl&script=/shop/late/${late}/giftcard-pay.standalone.js`;
  // Don't wait for `load`: in Firefox it fires only once the language has arrived.
  const tag = () => frame.contentDocument?.querySelector<GiftcardPay>("giftcard-pay");
  await waitUntil(() => tag()?.shadowRoot?.querySelector(".base"), "something is shown", { timeout: 60_000 });
  return new Widget(tag() as GiftcardPay);
}

const failing = () => `fails-${Math.random()}`;

const langOf = (widget: Widget) => widget.find(".base")?.lang;

describe("a language", () => {
  it("that loads late is replaced by English, marked as English", async () => {
    const startedAt = performance.now();
    const widget = await showLate("4000");
    expect(performance.now() - startedAt).to.be.below(3500);
    expect(widget.root.textContent).to.contain("Check balance");
    expect(langOf(widget)).to.equal("en");
    widget.number.value = "6064";
    await widget.until(() => langOf(widget) === "nl", "Dutch");
    expect(widget.root.textContent).to.contain("Saldo bekijken");
    expect(widget.number.value, "nothing typed is lost").to.equal("6064");
  });

  it("that could not be loaded is replaced by English, and requested again later", async () => {
    const widget = await showLate(failing());
    expect(langOf(widget)).to.equal("en");
    expect(widget.root.textContent).to.contain("Check balance");
    await widget.until(() => {
      // A render requests the language again, but only some seconds after the failure.
      widget.element.requestUpdate();
      return langOf(widget) === "nl";
    }, "Dutch");
  });

  it("is that of the host around a shadow root, and follows the page", async () => {
    const host = await fixture<HTMLElement>(html`<div lang="de"></div>`);
    const root = host.attachShadow({ mode: "open" });
    const element = document.createElement("giftcard-pay");
    root.append(element);
    const widget = new Widget(element);
    await widget.until(() => langOf(widget) === "de", "German");
    host.lang = "nl";
    await widget.until(() => langOf(widget) === "nl", "Dutch");
    host.removeAttribute("lang");
    const { lang } = document.documentElement;
    document.documentElement.lang = "fr";
    await widget.until(() => langOf(widget) === "fr", "French");
    document.documentElement.lang = lang;
  });

  it("has its own direction, whatever the page's is", async () => {
    document.documentElement.dir = "rtl";
    const element = await fixture<GiftcardPay>(html`<giftcard-pay lang="nl"></giftcard-pay>`);
    const base = element.shadowRoot?.querySelector<HTMLElement>(".base");
    expect(base?.dir).to.equal("ltr");
    element.lang = "he";
    element.messages = { check: "בדיקת יתרה" };
    await element.updateComplete;
    expect(base?.dir).to.equal("rtl");
    document.documentElement.dir = "";
  });
});
