import { expect, makeCart, poor, rich, show } from "./shop/page.js";

describe("keyboard and screen reader", () => {
  it("applies two cards and removes one with the keyboard alone", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.element.focus();
    expect(widget.focused).to.equal("number");
    await widget.type(rich.number);
    await widget.key("Tab");
    expect(widget.focused).to.equal("pin");
    await widget.type(rich.pin);
    await widget.key("Enter");
    await widget.until(() => widget.focused === "apply", "the focus is on Apply");
    await widget.key("Enter");
    await widget.until(() => widget.focused === "add", "the focus is on Add another card");
    await widget.key("Enter");
    await widget.until(() => widget.focused === "number", "the focus is on the number");
    await widget.type(poor.number);
    await widget.key("Tab");
    await widget.type(poor.pin);
    await widget.key("Tab");
    expect(widget.focused).to.equal("Show PIN");
    await widget.key("Tab");
    await widget.key("Enter");
    await widget.until(() => widget.focused === "apply", "the focus is on Apply");
    await widget.key("Enter");
    await widget.until(() => widget.focused === "add", "the focus is on Add another card");
    await widget.key("Shift+Tab");
    expect(widget.focused).to.equal("Remove card ending in 5678");
    await widget.key(" ");
    await widget.until(() => widget.focused === "Remove card ending in 1234", "the focus is on the other card");
    expect(await cart.appliedCount()).to.equal(1);
  });

  it("moves on to the PIN on Enter in the number, without an error", async () => {
    const widget = await show(await makeCart());
    widget.number.focus();
    await widget.type(rich.number);
    await widget.key("Enter");
    await widget.settled();
    expect(widget.focused).to.equal("pin");
    expect(widget.pin.getAttribute("aria-invalid")).to.equal("false");
    expect(widget.text).not.to.contain("Enter the PIN");
    await widget.key("Enter");
    await widget.settled();
    expect(widget.text).to.contain("Enter the PIN.");
  });

  it("shows no error if Enter checks a card and the shopper then cancels", async () => {
    const widget = await show(await makeCart());
    await widget.enter(rich);
    await widget.until(() => widget.focused === "apply", "the focus is on Apply");
    await widget.key("Tab");
    await widget.key("Enter");
    await widget.until(() => widget.focused === "pin", "the focus is on the PIN");
    expect(widget.invalid).to.deep.equal([]);
    expect(widget.text).not.to.contain("Enter the PIN");
  });

  for (const code of ["card_blocked", "card_no_balance", "card_already_applied"] as const)
    it(`shows one error, at the number, if Enter checks a card and the shop answers ${code}`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      await cart.trouble({ code });
      await widget.enter(rich);
      await widget.until(() => widget.focused === "number", "the focus is on the number");
      await widget.settled();
      expect(widget.invalid).to.deep.equal(["number"]);
      expect(widget.text).not.to.contain("Enter the PIN");
    });

  it("confirms nothing while a key is held", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.number.focus();
    await widget.type(rich.number);
    await widget.key("Tab");
    await widget.type(rich.pin);
    await widget.hold("Enter", () => widget.focused === "apply", "the focus is on Apply");
    await widget.settled();
    expect(widget.focused).to.equal("apply");
    expect(await cart.appliedCount()).to.equal(0);
    await widget.key("Enter");
    await widget.until(() => widget.focused === "add", "the card is applied");
  });

  it("explains the wait after too many attempts, with what is left of it", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ code: "too_many_attempts", retryAfterSeconds: 62 });
    await widget.enter(rich);
    await widget.until(() => widget.alert.includes("You can try again in 2 minutes."), "the wait is shown");
    const shown = widget.find("#error .alert");
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await widget.type(rich.pin);
    await widget.key("Enter");
    await widget.until(() => /You can try again in 5\d seconds\./.test(widget.alert), "the rest is shown");
    expect(widget.find("#error .alert"), "a screen reader announces it again").not.to.equal(shown);
    expect((await cart.calls()).filter(({ method }) => method === "POST")).to.have.length(1);
  });

  it("announces the quote, the applied amount, and the remainder", async () => {
    const widget = await show(await makeCart());
    await widget.check(rich);
    expect(widget.status).to.equal(
      "Card ending in 1234: balance €75.00. This order would use €50.00; €24.98 left to pay.",
    );
    await widget.press("#apply");
    expect(widget.status).to.equal("€50.00 of the card ending in 1234 applied. €24.98 left to pay.");
  });

  it("announces the same error again if it repeats", async () => {
    const widget = await show(await makeCart());
    const seen = new Set<Node>();
    for (let attempt = 0; attempt < 2; attempt++) {
      await widget.check({ number: rich.number, pin: "999999" });
      seen.add(widget.find("#pin-error .error") as Node);
    }
    expect(widget.find("#pin-error")?.getAttribute("role")).to.equal("alert");
    expect(seen.size).to.equal(2);
  });

  it("focuses the totals once a card covers the whole order", async () => {
    const widget = await show(await makeCart({ totalCents: 2000 }));
    await widget.apply(rich);
    expect(widget.focused).to.equal("summary");
    expect(widget.text).to.contain("Nothing left to pay");
  });

  it("does not move the focus if the shopper has moved to another part of the page", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const elsewhere = document.createElement("input");
    widget.element.after(elsewhere);
    await cart.trouble({ delayMs: 300 });
    await widget.enter(rich);
    elsewhere.focus();
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
    await widget.settled();
    expect(document.activeElement).to.equal(elsewhere);
    elsewhere.remove();
  });

  it("returns the focus on Cancel: from a quote to the PIN, from another card to its button", async () => {
    const widget = await show(await makeCart());
    await widget.check(rich);
    await widget.press(widget.button("Cancel"));
    expect(widget.focused).to.equal("pin");
    expect(widget.number.value).to.equal("6064 3500 0000 0001 234");
    await widget.apply(rich);
    await widget.press("#add");
    await expect(widget.element).to.be.accessible();
    await widget.press(widget.button("Cancel"));
    expect(widget.focused).to.equal("add");
  });
});
