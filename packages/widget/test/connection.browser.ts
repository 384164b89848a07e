import { fixture, html } from "@open-wc/testing";
import type { GiftcardPay } from "../src/define.js";
import { endpoint, expect, listen, makeCart, rich, show, Widget } from "./shop/page.js";

/** Types a card, and checks its balance with Enter. */
async function enter(widget: Widget, { number, pin } = rich): Promise<void> {
  widget.number.focus();
  await widget.type(number);
  await widget.key("Tab");
  await widget.type(pin);
  await widget.key("Enter");
}

async function showQuote(widget: Widget): Promise<void> {
  await enter(widget);
  await widget.until(() => widget.focused === "apply", "the focus is on Apply");
}

describe("a call", () => {
  it("is finished if the page moves the element meanwhile", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const applied = listen(widget, "giftcard-applied");
    await showQuote(widget);
    await cart.trouble({ delayMs: 300 });
    await widget.key("Enter");
    await widget.until(() => widget.element.busy, "the call is pending");
    const elsewhere = document.createElement("section");
    widget.element.after(elsewhere);
    elsewhere.append(widget.element);
    expect(widget.element.busy).to.equal(true);
    await widget.until(() => applied.length > 0, "the card is applied");
    await widget.settled();
    expect(widget.text).to.contain("Card ending in 1234");
    expect(widget.find("#apply")).to.equal(null);
    expect(widget.element.summary?.coveredCents).to.equal(5000);
    expect(await cart.appliedCount()).to.equal(1);
  });

  it("that checks a card is finished too, if the page moves the element meanwhile", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ delayMs: 150 });
    await enter(widget);
    const elsewhere = document.createElement("section");
    widget.element.after(elsewhere);
    elsewhere.append(widget.element);
    expect(widget.number.value, "nothing typed is lost").to.contain("0001 234");
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
    expect((await cart.calls()).filter(({ method }) => method === "POST")).to.have.length(1);
  });

  it("is finished if the page removes the element and adds it later", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await showQuote(widget);
    await cart.trouble({ delayMs: 300 });
    await widget.key("Enter");
    await widget.until(() => widget.element.busy, "the call is pending");
    const page = widget.element.parentElement as HTMLElement;
    widget.element.remove();
    await widget.until(() => widget.element.summary?.coveredCents === 5000, "the card is applied");
    page.append(widget.element);
    await widget.settled();
    expect(widget.find("#apply")).to.equal(null);
    expect(await cart.appliedCount()).to.equal(1);
  });

  if ("moveBefore" in Element.prototype)
    it("and the focus are kept if the page moves the element with moveBefore", async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      await showQuote(widget);
      const elsewhere = document.createElement("section");
      widget.element.after(elsewhere);
      (elsewhere as unknown as { moveBefore(child: Node, before: null): void }).moveBefore(widget.element, null);
      await widget.key("Enter");
      await widget.until(() => widget.element.summary?.coveredCents === 5000, "the card is applied");
      expect((await cart.calls()).filter(({ method }) => method === "GET")).to.have.length(1);
    });

  it("that checks a card can be canceled once it is slow, and keeps what was typed", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ delayMs: 8000 });
    await enter(widget);
    await widget.until(() => widget.status.includes("longer than usual"), "the call is slow");
    await widget.key("Tab");
    await widget.key("Tab");
    expect(widget.root.activeElement).to.equal(widget.button("Use card"));
    await widget.key("Tab");
    expect(widget.root.activeElement).to.equal(widget.button("Cancel"));
    await widget.key("Enter");
    await widget.until(() => widget.focused === "pin", "the focus is on the PIN");
    expect(widget.element.busy).to.equal(false);
    expect(widget.alert).to.equal("");
    expect(widget.pin.value).to.equal(rich.pin);
    await widget.key("Enter");
    await widget.until(() => widget.focused === "apply", "the next check is answered");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(widget.status).to.contain("balance €75.00");
  });

  it("without a response is repeated once the browser is online again", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ cut: "before" });
    await enter(widget);
    await widget.until(() => widget.focused === "retry", "the focus is on Try again");
    expect(widget.alert).to.contain("No answer from the shop.");
    window.dispatchEvent(new Event("online"));
    await widget.until(() => widget.focused === "apply", "the focus is on Apply");
    expect(widget.alert).to.equal("");
  });

  it("without a response is not repeated while the shopper corrects the card", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ cut: "before" });
    await enter(widget);
    await widget.until(() => widget.focused === "retry", "the focus is on Try again");
    widget.number.focus();
    await widget.key("Backspace");
    window.dispatchEvent(new Event("online"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(widget.element.busy).to.equal(false);
    expect(widget.pin.value).to.equal(rich.pin);
  });
});

describe("a cart", () => {
  it("is requested at once, while the texts of a language are still loading", async () => {
    const cart = await makeCart();
    const frame = await fixture<HTMLIFrameElement>(html`<iframe title="shop" width="400" height="400"></iframe>`);
    frame.src = `/shop/strict?cart=${cart.id}&lang=nl&script=/shop/late/4000/giftcard-pay.standalone.js`;
    const tag = () => frame.contentDocument?.querySelector<GiftcardPay>("giftcard-pay");
    const widget = { until: Widget.prototype.until };
    await widget.until(() => !!tag()?.summary, "the cart is loaded");
    expect(tag()?.shadowRoot?.querySelector(".base") ?? null, "nothing is shown yet").to.equal(null);
  });

  it("is requested once, with the properties that the page sets after it has added the tag", async () => {
    const cart = await makeCart();
    const element = document.createElement("giftcard-pay");
    document.body.append(element);
    Object.assign(element, { endpoint, cart: cart.id, lang: "en", headers: { "x-shop": "1" } });
    const widget = new Widget(element);
    await widget.until(() => !!element.summary, "the cart is shown");
    await widget.settled();
    const calls = await cart.calls();
    element.remove();
    expect(calls.map(({ method, headers }) => [method, headers["x-shop"]])).to.deep.equal([["GET", "1"]]);
  });

  it("that needs no payment any more keeps the focus in the element", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await showQuote(widget);
    await cart.change({ totalCents: 0 });
    await widget.element.refresh();
    await widget.settled();
    expect(widget.find("#apply")).to.equal(null);
    expect(document.activeElement).to.equal(widget.element);
    expect(widget.root.activeElement).to.equal(widget.find(".base"));
  });
});
