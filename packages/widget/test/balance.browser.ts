import { fixture, html } from "@open-wc/testing";
import type { CardBalance, GiftcardBalance } from "../src/index.js";
import { endpoint, expect, makeCart, rich, type TestCart, Widget } from "./shop/page.js";

async function show(cart: TestCart): Promise<Widget<GiftcardBalance>> {
  const element = await fixture<GiftcardBalance>(
    html`<giftcard-balance endpoint=${endpoint} lang="en" .headers=${{ "x-cart": cart.id }}></giftcard-balance>`,
  );
  await element.updateComplete;
  return new Widget(element);
}

describe("<giftcard-balance>", () => {
  it("shows and announces the balance without a cart, and clears the fields", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const balances: CardBalance[] = [];
    widget.element.addEventListener("giftcard-balance", ({ detail }) => balances.push(detail));
    await widget.check(rich);
    expect(widget.text).to.contain("Card ending in 1234");
    expect(widget.text).to.contain("Valid until May 31, 2027");
    expect(widget.text).to.contain("Balance €75.00");
    expect(widget.status).to.equal("Card ending in 1234: balance €75.00.");
    expect(widget.element.balance?.balanceCents).to.equal(7500);
    expect(balances).to.deep.equal([{ lastFour: "1234", balanceCents: 7500, expiryDate: "2027-05-31" }]);
    expect(widget.number.value + widget.pin.value).to.equal("");
    const calls = await cart.calls();
    expect(calls.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([`POST ${endpoint}/balance`]);
    await expect(widget.element).to.be.accessible();
  });

  it("shows refusals and the wait after too many attempts, and retries after a lost response", async () => {
    const cart = await makeCart({ maxWrong: 2, lockSeconds: 1 });
    const widget = await show(cart);
    await widget.check({ number: rich.number, pin: "1" });
    expect(widget.alert).to.contain("don't match");
    expect(widget.focused).to.equal("pin");
    await widget.check({ number: rich.number, pin: "2" });
    expect(widget.alert).to.contain("You can try again in 1 second.");
    await widget.until(() => widget.status === "You can try again now.", "the wait is over");
    await cart.trouble({ cut: "before" });
    await widget.check(rich);
    await widget.press("#retry");
    expect(widget.text).to.contain("Balance €75.00");
  });
});
