import { expect, makeCart, rich, show, type TestCart } from "./shop/page.js";

const fromCache = () => new PageTransitionEvent("pageshow", { persisted: true });
const reads = async (cart: TestCart) => (await cart.calls()).filter((call) => call.method === "GET").length;

describe("a shopper who returns to the page", () => {
  it("sees the current cart on a page from the back/forward cache", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.apply(rich);
    await cart.change({ applied: [] });
    window.dispatchEvent(fromCache());
    await widget.until(() => widget.status.endsWith("€74.98 left to pay."), "the card is gone");
    expect(widget.text).not.to.contain("€50.00");
    expect(widget.number.checkVisibility()).to.equal(true);
  });

  it("sees the current cart in a tab from the background, loaded at most every few seconds", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const { now } = Date;
    try {
      for (const laterMs of [1000, 6000, 7000]) {
        Date.now = () => now() + laterMs;
        document.dispatchEvent(new Event("visibilitychange"));
        await widget.settled();
      }
    } finally {
      Date.now = now;
    }
    expect(await reads(cart)).to.equal(2);
  });

  it("sees no error if that load fails, and a removed element loads no more", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ cut: "before" });
    window.dispatchEvent(fromCache());
    await widget.settled();
    expect(widget.alert).to.equal("");
    widget.element.remove();
    const before = await reads(cart);
    window.dispatchEvent(fromCache());
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await reads(cart)).to.equal(before);
  });
});
