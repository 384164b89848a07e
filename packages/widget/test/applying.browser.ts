import type { GiftcardEventMap } from "../src/index.js";
import { endpoint, expect, listen, makeCart, poor, rich, show } from "./shop/page.js";

describe("applying cards", () => {
  it("shows balance, usable amount and limit before anything is applied", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.check(rich);
    expect(widget.text).to.contain("Card ending in 1234");
    expect(widget.text).to.contain("Balance €75.00");
    expect(widget.text).to.contain("Left to pay €24.98");
    expect(widget.text).to.contain("A gift card pays at most €50.00 per order. €25.00 stays on the card.");
    expect(widget.text).to.contain("Apply €50.00");
    expect(widget.text).to.contain("Nothing is taken until you order.");
    expect(widget.text).to.contain("Valid until May 31, 2027");
    expect(await cart.appliedCount()).to.equal(0);
    await expect(widget.element).to.be.accessible();
  });

  it("does not mention the limit if the balance is lower", async () => {
    const widget = await show(await makeCart());
    await widget.check(poor);
    expect(widget.text).to.contain("Apply €10.00");
    expect(widget.text).not.to.contain("at most");
  });

  it("sends only the quote's id, lists the card by its last four digits, and dispatches events", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const applied = listen(widget, "giftcard-applied");
    const totals = listen(widget, "giftcard-total");
    await widget.apply(rich);
    expect(widget.text).to.contain(
      "Card ending in 1234 −€50.00 €25.00 stays on the card. Valid until May 31, 2027 Remove",
    );
    expect(widget.text, "one card needs no total").not.to.contain("Gift cards");
    expect(widget.text).to.contain("Left to pay €24.98");
    expect(applied.map((event) => event.detail.card.amountCents)).to.deep.equal([5000]);
    expect(totals.map((event) => event.detail.remainderCents)).to.deep.equal([2498]);
    const last = (await cart.calls()).at(-1);
    expect(Object.keys(JSON.parse(last?.body ?? "{}"))).to.deep.equal(["quoteId"]);
    await expect(widget.element).to.be.accessible();
  });

  it("takes a second card, and closes the form once nothing is left to pay", async () => {
    const widget = await show(await makeCart({ totalCents: 6000 }));
    await widget.apply(rich);
    await widget.press("#add");
    expect(widget.focused).to.equal("number");
    await widget.apply(poor);
    expect(widget.text, "nothing stays on the card").to.contain("Card ending in 5678 −€10.00 Remove");
    expect(widget.text).to.contain("Gift cards −€60.00");
    expect(widget.text).to.contain("Nothing left to pay");
    expect(!!widget.find("#add")).to.equal(false);
    await expect(widget.element).to.be.accessible();
  });

  it("does not pay for gift cards in the cart, and says so", async () => {
    const cart = await makeCart({ totalCents: 5500, notByCardCents: 2500 });
    const widget = await show(cart);
    expect(widget.text).to.contain("A gift card can't pay for a gift card.");
    await widget.check(rich);
    expect(widget.text).to.contain("Apply €30.00");
    expect(widget.text).to.contain("Left to pay €25.00");
    await widget.press("#apply");
    expect(widget.text).to.contain("Card ending in 1234 −€30.00");
    expect(widget.text).not.to.contain("Nothing left to pay");
    expect(widget.text).to.contain("A gift card can't pay for a gift card.");
    expect(widget.text).not.to.contain("takes no more gift cards");
    expect(!!widget.find("#add")).to.equal(false);
    await cart.change({ totalCents: 6500 });
    await widget.element.refresh();
    await widget.settled();
    expect(!!widget.find("#add")).to.equal(false);
    await cart.change({ totalCents: 8500 });
    await widget.element.refresh();
    await widget.settled();
    expect(!!widget.find("#add")).to.equal(true);
    await expect(widget.element).to.be.accessible();
  });

  it("takes no card if the cart holds only gift cards", async () => {
    const widget = await show(await makeCart({ totalCents: 2500, notByCardCents: 2500 }));
    expect(widget.text).to.contain("A gift card can't pay for a gift card.");
    expect(widget.text).not.to.contain("nothing left to pay");
    expect(widget.find("#number")?.checkVisibility()).to.equal(false);
    await expect(widget.element).to.be.accessible();
  });

  it("takes no more cards than the shop allows", async () => {
    const widget = await show(await makeCart({ maxCards: 1 }));
    await widget.check(rich);
    await widget.press("#apply");
    expect(!!widget.find("#add")).to.equal(false);
    expect(widget.text).to.contain("This order takes no more gift cards (at most 1).");
  });

  it("removes a card, announces it, and focuses the next one", async () => {
    const widget = await show(await makeCart());
    const removed = listen(widget, "giftcard-removed");
    await widget.apply(rich);
    await widget.press("#add");
    await widget.apply(poor);
    await widget.press(widget.button("Remove card ending in 1234"));
    expect(removed.map((event) => event.detail.card.lastFour)).to.deep.equal(["1234"]);
    expect(widget.focused).to.equal("Remove card ending in 5678");
    expect(widget.status).to.equal("Card ending in 1234 removed. €64.98 left to pay.");
    await widget.press(widget.button("Remove card ending in 5678"));
    expect(widget.focused).to.equal("number");
    expect(widget.text).not.to.contain("•••• 5678");
  });

  it("shows a card whose details have expired, and one whose earlier payment is being undone", async () => {
    const applied = [
      { id: "a", number: rich.number, state: "expired" },
      { id: "b", number: poor.number, state: "settling" },
    ];
    const cart = await makeCart();
    await cart.change({ applied });
    const widget = await show(cart);
    expect(widget.text).to.contain("We no longer have the details of this card.");
    expect(widget.text).to.contain("A payment with this card isn't finished yet");
    expect(widget.text).to.contain("Gift cards €0.00 Pay €74.98 without the card");
    expect(widget.text, "that isn't decided").not.to.contain("Left to pay");
    await expect(widget.element).to.be.accessible();
    await cart.change({ maxCards: 2 });
    await widget.element.refresh();
    await widget.settled();
    expect(!!widget.find("#add"), "an expired card does not count toward the maximum").to.equal(true);
  });

  it("shows why a card could not be charged, also in Dutch, and does not say that nothing is left to pay", async () => {
    const applied = [
      { id: "a", number: rich.number, state: "applied", refusal: "card_blocked" },
      { id: "b", number: poor.number, state: "applied", refusal: "balance_changed" },
    ];
    const cart = await makeCart({ totalCents: 6000 });
    await cart.change({ applied });
    const widget = await show(cart);
    expect(widget.text).to.contain("Your order wasn't placed. This card is blocked.");
    expect(widget.text).to.contain("The balance of the card ending in 5678 has changed.");
    expect(widget.text).not.to.contain("Nothing left to pay");
    await expect(widget.element).to.be.accessible();
    const dutch = await show(cart, "nl");
    expect(dutch.text).to.contain("Je bestelling is niet geplaatst. Deze kaart is geblokkeerd.");
    await widget.press(widget.button("Remove card ending in 1234"));
    expect(widget.text).not.to.contain("blocked");
  });

  it("gives a page the text of a refusal in its language", async () => {
    const { element } = await show(await makeCart(), "de");
    expect(element.textOf("card_blocked")).to.contain("gesperrt");
    expect(element.textOf("insufficient_inventory")).to.contain("nicht mehr genug");
    expect(element.textOf("toString")).to.equal(undefined);
  });

  it("sends the publishable key and the page's headers through the page's transport", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const urls: string[] = [];
    widget.element.headers = { "x-shop": "7" };
    widget.element.transport = (url, init) => {
      urls.push(url);
      return fetch(url, init);
    };
    await widget.check(rich);
    const call = (await cart.calls()).at(-1);
    expect(urls).to.deep.equal([`${endpoint}/carts/${cart.id}/quote`]);
    expect(call?.headers["x-publishable-api-key"]).to.equal("pk_test");
    expect(call?.headers["x-shop"]).to.equal("7");
  });

  it("lets the page cancel giftcard-before-apply, whose detail has the quote", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const quotes: unknown[] = [];
    const cancel = (event: GiftcardEventMap["giftcard-before-apply"]) => {
      quotes.push(event.detail.quote);
      event.preventDefault();
    };
    widget.element.addEventListener("giftcard-before-apply", cancel);
    await widget.check(rich);
    await widget.press("#apply");
    expect(await cart.appliedCount()).to.equal(0);
    expect(quotes).to.deep.equal([
      {
        lastFour: "1234",
        balanceCents: 7500,
        usableCents: 5000,
        limitedBy: "limit",
        remainderCents: 2498,
        expiryDate: "2027-05-31",
      },
    ]);
    widget.element.removeEventListener("giftcard-before-apply", cancel);
    await widget.press("#apply");
    expect(await cart.appliedCount()).to.equal(1);
  });

  it("reports in an event and a CSS state that the cards pay the whole order", async () => {
    const cart = await makeCart({ totalCents: 2000 });
    const widget = await show(cart);
    const totals = listen(widget, "giftcard-total");
    expect(widget.element.matches(":state(covered)")).to.equal(false);
    await widget.apply(rich);
    expect(widget.element.matches(":state(covered)")).to.equal(true);
    expect(widget.element.matches(":state(applied)")).to.equal(true);
    expect(totals.map((event) => event.detail.covered)).to.deep.equal([true]);
    await cart.change({ totalCents: 9000 });
    await widget.element.refresh();
    await widget.settled();
    expect(widget.element.matches(":state(covered)")).to.equal(false);
    expect(totals.at(-1)?.detail.covered).to.equal(false);
  });

  it("reports that the balance of an applied card has changed, and shows the new figures", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.apply(rich);
    await cart.change({ cards: [{ ...rich, balanceCents: 1200 }, poor] });
    await widget.element.refresh();
    await widget.settled();
    expect(widget.text).to.contain("Card ending in 1234 −€12.00 Remove");
    expect(widget.text).to.contain("The balance of the card ending in 1234 has changed.");
    expect(widget.status).to.contain("€62.98 left to pay.");
    await widget.press("#add");
    await widget.check(poor);
    expect(widget.text).not.to.contain("has changed");
  });

  it("updates the figures and an open quote after the cart has changed, and says why", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.apply(rich);
    await cart.change({ totalCents: 6000 });
    await widget.element.refresh();
    await widget.settled();
    expect(widget.status).to.equal("Your order changed from €74.98 to €60.00. Gift cards: €50.00. €10.00 left to pay.");
    await widget.press("#add");
    await widget.check(poor);
    await cart.change({ totalCents: 7000 });
    await widget.element.refresh();
    await widget.settled();
    expect(widget.text).to.contain("Your order changed from €60.00 to €70.00.");
    expect(widget.text).to.contain("Balance €10.00 Left to pay €10.00");
    expect(widget.status).to.contain("This order would use €10.00; €10.00 left to pay.");
    await cart.change({ totalCents: 5000 });
    await widget.element.refresh();
    await widget.settled();
    expect(!!widget.find("#apply"), "nothing is left for the quoted card").to.equal(false);
    expect(widget.text).to.contain("Nothing left to pay");
  });

  it("quotes at most 50.00 per card after the cart's total has grown", async () => {
    const cart = await makeCart({ totalCents: 4000 });
    const widget = await show(cart);
    await widget.check(rich);
    expect(widget.text).to.contain("Left to pay €0.00");
    await cart.change({ totalCents: 9000 });
    await widget.element.refresh();
    await widget.settled();
    expect(widget.text).to.contain("Left to pay €40.00");
    expect(widget.button("Apply €50.00")).to.equal(widget.find("#apply"));
    await widget.press("#apply");
    expect(widget.element.summary).to.include({ coveredCents: 5000, remainderCents: 4000 });
  });

  it("starts over with another cart, and marks a sandbox", async () => {
    const widget = await show(await makeCart());
    await widget.apply(rich);
    const other = await makeCart({ totalCents: 1500, environment: "sandbox" });
    widget.element.cart = other.id;
    await widget.until(() => widget.element.summary?.cartId === other.id, "the other cart is shown");
    await widget.settled();
    expect(widget.text).not.to.contain("1234");
    expect(widget.text).to.contain("Test mode");
    expect(widget.number.checkVisibility()).to.equal(true);
  });

  it("tells two cards with the same last four digits apart", async () => {
    const twin = { ...poor, number: "6064350000000991234", pin: "111111" };
    const cart = await makeCart({ cards: [rich, twin] });
    const widget = await show(cart);
    const applied = listen(widget, "giftcard-applied");
    await widget.apply(rich);
    await widget.press("#add");
    await widget.apply(twin);
    expect(widget.status).to.equal("€10.00 of the card ending in 1234 applied. €14.98 left to pay.");
    expect(applied.map(({ detail }) => detail.card.amountCents)).to.deep.equal([5000, 1000]);
    const [first, second] = applied.map(({ detail }) => detail.card.id);
    expect(first).not.to.equal(second);
  });

  it("does not take another card with the same last four digits for one that was refused", async () => {
    const twin = { ...poor, number: "6064350000000991234", pin: "111111" };
    const cart = await makeCart({ cards: [rich, twin] });
    const widget = await show(cart);
    const applied = listen(widget, "giftcard-applied");
    await widget.apply(rich);
    await widget.press("#add");
    await widget.check(twin);
    await cart.trouble({ code: "quote_expired" });
    await widget.press("#apply");
    expect(widget.alert).to.contain("Too much time has passed.");
    expect(applied).to.have.length(1);
    expect(await cart.appliedCount()).to.equal(1);
  });

  it("asks for no card if there is nothing to pay", async () => {
    const widget = await show(await makeCart({ totalCents: 0 }));
    expect(widget.text).to.contain("Nothing is left to pay");
    expect(widget.number.checkVisibility()).to.equal(false);
  });
});
