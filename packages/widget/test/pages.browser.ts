import { fixture, html } from "@open-wc/testing";
import type { GiftcardPay } from "../src/define.js";
import { endpoint, expect, listen, makeCart, poor, rich, show, Widget } from "./shop/page.js";

describe("on different pages", () => {
  for (const [lang, check] of [
    ["en", "Use card"],
    ["nl", "Kaart gebruiken"],
  ] as const) {
    it(`hydrates a server-rendered form and keeps what was typed (${lang})`, async () => {
      const cart = await makeCart();
      const frame = await fixture<HTMLIFrameElement>(html`<iframe title="shop" width="500" height="600"></iframe>`);
      frame.src = `/shop/page?cart=${cart.id}&lang=${lang}`;
      await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
      const page = frame.contentDocument as Document;
      const widget = new Widget(page.querySelector("giftcard-pay") as GiftcardPay);
      expect(widget.text, "before any script").to.contain(check);
      const { number } = widget;
      await widget.fill({ number: rich.number });
      const script = page.createElement("script");
      script.type = "module";
      script.src = new URL("./shop/hydrate.ts", import.meta.url).href;
      page.body.append(script);
      await widget.until(() => !!widget.element.summary && widget.element.hasUpdated, "the cart is shown");
      expect(widget.number, "the same element").to.equal(number);
      expect(widget.root.querySelectorAll("form")).to.have.length(1);
      expect(widget.number.value.replaceAll(" ", "")).to.equal(rich.number);
      await widget.fill({ pin: rich.pin });
      await widget.key("Enter");
      await widget.until(() => !!widget.find("#apply"), "the quote is shown");
      expect(widget.text).to.match(/75[.,]00/);
    });
  }

  it("checks a card on a sandboxed page that may not submit forms", async () => {
    const cart = await makeCart();
    const script = new URL("../dist/giftcard-pay.standalone.js", import.meta.url).pathname;
    const frame = await fixture<HTMLIFrameElement>(
      html`<iframe title="shop" sandbox="allow-scripts allow-same-origin" width="500" height="600"></iframe>`,
    );
    frame.src = `/shop/strict?cart=${cart.id}&lang=en&script=${script}`;
    await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
    const widget = new Widget(frame.contentDocument?.querySelector("giftcard-pay") as GiftcardPay);
    await widget.until(() => !!widget.element.summary, "the cart is shown");
    await widget.enter(rich);
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
    expect((await cart.calls()).filter(({ method }) => method === "POST")).to.have.length(1);
  });

  it("works twice on a page, each with its own cart", async () => {
    const [first, second] = [await show(await makeCart()), await show(await makeCart())];
    document.body.append(first.element, second.element);
    await first.settled();
    await second.settled();
    const totals = listen(second, "giftcard-total");
    await first.apply(rich);
    await second.apply(poor);
    expect(first.text).to.contain("−€50.00");
    expect(second.text).to.contain("−€10.00");
    expect(totals.map((event) => event.detail.remainderCents)).to.deep.equal([6498]);
    first.element.remove();
    second.element.remove();
  });

  it("works inside another shadow root, and its events bubble out", async () => {
    const cart = await makeCart();
    const host = await fixture<HTMLElement>(html`<section></section>`);
    const outer = host.attachShadow({ mode: "open" });
    const element = document.createElement("giftcard-pay");
    Object.assign(element, { endpoint, cart: cart.id, lang: "en" });
    outer.append(element);
    const widget = new Widget(element);
    await widget.until(() => !!element.summary, "the cart is shown");
    const remainders: number[] = [];
    host.addEventListener("giftcard-total", ({ detail }) => remainders.push(detail.remainderCents));
    await widget.apply(rich);
    expect(widget.focused).to.equal("add");
    expect(remainders).to.deep.equal([2498]);
    await widget.press(widget.button("Remove card ending in 1234"));
    expect(widget.focused).to.equal("number");
    await expect(element).to.be.accessible();
  });
});
