import { fixture, html } from "@open-wc/testing";
import { GiftcardPay } from "../src/index.js";
import { expect, makeCart, rich, show, Widget } from "./shop/page.js";

describe("the element", () => {
  it("registers only once, even if a second copy is loaded", async () => {
    GiftcardPay.define();
    const standalone = new URL("../dist/giftcard-pay.standalone.js", import.meta.url).href;
    const copy = await import(standalone);
    expect(copy.GiftcardPay).not.to.equal(GiftcardPay);
    expect(customElements.get("giftcard-pay")).to.equal(GiftcardPay);
  });

  it("works from the standalone file under a strict content security policy", async () => {
    const cart = await makeCart();
    const violations: string[] = [];
    const frame = await fixture<HTMLIFrameElement>(html`<iframe title="shop" width="400" height="400"></iframe>`);
    const script = new URL("../dist/giftcard-pay.standalone.js", import.meta.url).pathname;
    frame.src = `/shop/strict?cart=${cart.id}&lang=nl&script=${script}`;
    await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
    const page = frame.contentDocument as Document;
    page.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
    const widget = new Widget(page.querySelector("giftcard-pay") as GiftcardPay);
    // The cart may be loaded before the language, without which nothing is rendered.
    await widget.until(() => !!widget.element.summary && widget.element.hasUpdated, "the cart is shown");
    await widget.enter(rich);
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
    await widget.press("#apply");
    expect(widget.text).to.contain("−€ 50,00");
    expect(violations).to.deep.equal([]);
  });

  it("uses the language of its lang, else of the page, else English", async () => {
    const cart = await makeCart();
    const dutch = await show(cart, "nl-BE");
    expect(dutch.text).to.contain("Kaart gebruiken");
    const underscored = await show(cart, "nl_NL");
    expect(underscored.text).to.contain("Pincode");
    const around = await fixture<HTMLElement>(html`<div lang="nl"><giftcard-pay></giftcard-pay></div>`);
    const inside = around.querySelector("giftcard-pay") as GiftcardPay;
    await inside.updateComplete;
    expect(inside.shadowRoot?.textContent).to.contain("Kaart gebruiken");
  });

  it("switches its language while it is shown", async () => {
    const widget = await show(await makeCart());
    await widget.check(rich);
    widget.element.lang = "nl";
    await widget.until(() => widget.text.includes("€ 50,00 gebruiken"), "Dutch");
  });

  it("uses the page's own texts", async () => {
    const widget = await show(await makeCart(), "nl");
    widget.element.messages = { use: "Kijk hoeveel erop staat", errors: { card_blocked: "Geblokkeerd." } };
    await widget.element.updateComplete;
    expect(widget.text).to.contain("Kijk hoeveel erop staat");
    await widget.element.showError("card_blocked");
    await widget.settled();
    expect(widget.alert).to.equal("Geblokkeerd.");
  });

  it("waits until the page sets the cart", async () => {
    const element = await fixture<GiftcardPay>(html`<giftcard-pay lang="en"></giftcard-pay>`);
    const button = element.shadowRoot?.querySelector("button[type=submit]");
    expect(button?.getAttribute("aria-disabled")).to.equal("true");
    const cart = await makeCart();
    element.endpoint = "/shop/store/giftcard-pay/";
    element.cart = cart.id;
    await new Promise((resolve) => element.addEventListener("giftcard-total", resolve, { once: true }));
    await element.updateComplete;
    expect(button?.getAttribute("aria-disabled")).to.equal("false");
  });

  it("keeps space for the form, but hides it for a moment while the cart loads", async () => {
    const cart = await makeCart({ faults: [{ delayMs: 400 }] });
    const element = await fixture<GiftcardPay>(
      html`<giftcard-pay endpoint="/shop/store/giftcard-pay" cart=${cart.id} lang="en" style="inline-size: 400px"></giftcard-pay>`,
    );
    const form = element.shadowRoot?.querySelector("form") as HTMLFormElement;
    const opacity = () => getComputedStyle(form).opacity;
    const { height } = element.getBoundingClientRect();
    expect(height).to.be.above(60);
    expect(opacity()).to.equal("0");
    for (const animation of form.getAnimations({ subtree: true })) animation.finish();
    expect(opacity(), "after that moment").to.equal("1");
    const widget = new Widget(element);
    await widget.until(() => !!element.summary, "the cart is shown");
    await element.updateComplete;
    expect(opacity()).to.equal("1");
    expect(element.getBoundingClientRect().height).to.equal(height);
  });

  it("keeps its cards if it is moved on the page", async () => {
    const widget = await show(await makeCart());
    await widget.apply(rich);
    const elsewhere = document.createElement("section");
    widget.element.after(elsewhere);
    elsewhere.append(widget.element);
    await widget.settled();
    expect(widget.text).to.contain("Card ending in 1234 −€50.00");
  });

  it("has no inline styles, which a strict content security policy would block", async () => {
    const widget = await show(await makeCart());
    await widget.apply(rich);
    expect(widget.root.querySelector("style, [style]")).to.equal(null);
    expect(widget.root.adoptedStyleSheets).to.have.length(1);
  });
});
