import { descriptionOf, hasDevtools } from "./shop/devtools.js";
import { endpoint, expect, listen, makeCart, rich, show, Widget } from "./shop/page.js";

/** Checks the rich card by keyboard, which moves the focus to Apply. */
async function check(widget: Widget): Promise<void> {
  widget.element.focus();
  await widget.type(rich.number);
  await widget.key("Tab");
  await widget.type(rich.pin);
  await widget.key("Enter");
  await widget.until(() => widget.focused === "apply", "the focus is on Apply");
}

/** Answers each `giftcard-before-apply` with the next of these functions. */
function answer(widget: Widget, ...answers: (() => Promise<unknown>)[]): void {
  widget.element.addEventListener("giftcard-before-apply", ({ detail }) => {
    const next = answers.shift();
    if (next) detail.waitUntil(next());
  });
}

describe("events around a card", () => {
  it("reports once that the cart is shown, also if it could not be loaded", async () => {
    const [cart, broken] = [await makeCart(), await makeCart()];
    const element = document.createElement("giftcard-pay");
    const seen: unknown[] = [];
    element.addEventListener("giftcard-ready", ({ detail }) => {
      seen.push([detail.summary?.totalCents, !!element.shadowRoot?.querySelector("form:not(.placeholder)")]);
    });
    Object.assign(element, { endpoint, cart: cart.id });
    document.body.append(element);
    const widget = new Widget(element);
    await widget.until(() => seen.length > 0, "the first event");
    await element.refresh();
    await broken.trouble({ cut: "before" });
    element.cart = broken.id;
    await widget.until(() => seen.length > 1, "the second event");
    expect(seen).to.deep.equal([
      [7498, true],
      [undefined, true],
    ]);
    element.remove();
  });

  it("reports a checked card without the id that applies it", async () => {
    const widget = await show(await makeCart());
    const quotes = listen(widget, "giftcard-quote");
    await check(widget);
    expect(quotes.map(({ detail }) => [detail.quote, detail.summary?.totalCents])).to.deep.equal([
      [
        {
          lastFour: "1234",
          balanceCents: 7500,
          usableCents: 5000,
          limitedBy: "limit",
          remainderCents: 2498,
          expiryDate: "2027-05-31",
        },
        7498,
      ],
    ]);
  });

  it("waits for the page before it applies a card, and shows why the page refused it", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    let refuse = (_reason: string) => {};
    answer(widget, () => new Promise((resolve) => (refuse = resolve)));
    await check(widget);
    await widget.key("Enter");
    await widget.until(() => !!widget.find("#apply.busy"), "the card waits");
    expect((await cart.calls()).at(-1)?.url).to.match(/quote$/);
    refuse("This show takes no gift cards.");
    await widget.settled();
    expect(widget.alert).to.equal("This show takes no gift cards.");
    expect(await cart.appliedCount()).to.equal(0);
    expect(widget.focused).to.equal("apply");
    await widget.key("Enter");
    await widget.until(() => !widget.find("#apply"), "the card is applied");
    expect(await cart.appliedCount()).to.equal(1);
    expect(widget.alert).to.equal("");
  });

  it("forgets the page's reason when the shopper cancels", async () => {
    const widget = await show(await makeCart());
    answer(widget, async () => "Not today.");
    await check(widget);
    await widget.key("Enter");
    await widget.until(() => widget.alert === "Not today.", "the reason is shown");
    await widget.key("Tab");
    await widget.key("Enter");
    expect(widget.alert).to.equal("");
    expect(widget.focused).to.equal("pin");
  });

  it("applies nothing after `false` or a rejection", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    answer(
      widget,
      async () => false,
      () => Promise.reject(new Error("the page's own server is down")),
      async () => true,
    );
    await check(widget);
    await widget.key("Enter");
    await widget.until(() => widget.alert !== "", "the refusal is shown");
    expect(widget.alert).to.contain("This card isn't applied yet.");
    await widget.key("Enter");
    await widget.until(() => widget.focused === "retry", "the focus is on Try again");
    expect(widget.alert).to.contain("Something went wrong on our side.");
    expect(widget.alert).not.to.contain("server is down");
    expect(await cart.appliedCount()).to.equal(0);
    await widget.key("Enter");
    await widget.until(() => !widget.find("#apply"), "the card is applied");
    expect(await cart.appliedCount()).to.equal(1);
  });

  it("applies nothing if the page agrees after the tag got another cart", async () => {
    const [cart, other] = [await makeCart(), await makeCart()];
    const widget = await show(cart);
    let agree = () => {};
    answer(widget, () => new Promise<void>((resolve) => (agree = resolve)));
    await check(widget);
    await widget.key("Enter");
    widget.element.cart = other.id;
    await widget.until(() => widget.element.summary?.cartId === other.id, "the other cart is shown");
    agree();
    await widget.settled();
    for (const { method, url } of [...(await cart.calls()), ...(await other.calls())])
      expect(`${method} ${url}`).not.to.match(/cards$/);
  });
});

describe("slots", () => {
  it("shows the page's title, help for the PIN, and terms, each in its place", async () => {
    const widget = await show(await makeCart());
    const empty = widget.element.getBoundingClientRect().height;
    widget.element.innerHTML = `<h3 slot="title">Gift card</h3>
      <span slot="pin-help">Below the scratch panel</span>
      <a slot="terms" href="#terms">Terms</a>`;
    const places = [...widget.element.children].map((part) => part.getBoundingClientRect().top);
    const [title = 0, help = 0, terms = 0] = places;
    expect(title).to.be.below(widget.number.getBoundingClientRect().top);
    expect(help).to.be.above(widget.pin.getBoundingClientRect().bottom - 1);
    expect(terms).to.be.above(help);
    expect(widget.element.getBoundingClientRect().height).to.be.above(empty);
    widget.element.focus();
    for (let tabs = 0; tabs < 4; tabs++) await widget.key("Tab");
    expect(document.activeElement?.textContent).to.equal("Terms");
    await expect(widget.element).to.be.accessible();
  });
});

(hasDevtools ? describe : describe.skip)("the help of a field", () => {
  it("is the field's description for a screen reader", async () => {
    const widget = await show(await makeCart());
    widget.element.innerHTML = `<span slot="pin-help">Below the scratch panel</span>`;
    expect(await descriptionOf("PIN")).to.equal("Below the scratch panel");
  });
});
