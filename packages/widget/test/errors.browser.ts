import type { ShopErrorCode } from "@giftcard-pay/checkout/storefront";
import { waitUntil } from "@open-wc/testing";
import { en } from "../src/messages/en.js";
import { builtInLanguages, loadMessages, textsFor } from "../src/messages/index.js";
import { expect, listen, makeCart, plain, poor, rich, show } from "./shop/page.js";

const codes = Object.keys(en.errors).filter((code) => !/^(offline|un)/.test(code)) as ShopErrorCode[];

describe("errors", () => {
  for (const lang of builtInLanguages())
    it(`has a different text for every code in ${lang}`, async () => {
      await loadMessages(lang);
      const [, { errors }] = textsFor(lang, {});
      expect(lang === "en" || errors !== en.errors, "the language is loaded").to.equal(true);
      expect(new Set(Object.values(errors)).size).to.equal(Object.keys(en.errors).length);
    });

  for (const code of codes) {
    it(`shows the text for ${code}, and never the server's`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      const errors = listen(widget, "giftcard-error");
      await cart.trouble({ code });
      await widget.check(rich);
      expect(widget.alert).to.contain(plain(en.errors[code]));
      expect(widget.text).not.to.contain("server text");
      expect(errors.map((event) => [event.detail.code, event.detail.action])).to.deep.equal([[code, "quote"]]);
      await expect(widget.element).to.be.accessible();
    });
  }

  for (const code of ["cart_completed", "cart_not_found", "currency_not_supported", "giftcards_not_accepted"] as const)
    it(`asks for no card after ${code}, and keeps showing its text`, async () => {
      const cart = await makeCart({ faults: [{ code }] });
      const widget = await show(cart);
      await widget.settled();
      expect(widget.alert).to.equal(plain(en.errors[code]));
      expect(widget.number.checkVisibility()).to.equal(false);
      expect(widget.text).not.to.contain("nothing left to pay");
      await expect(widget.element).to.be.accessible();
      await widget.element.refresh();
      await widget.settled();
      expect(widget.alert).to.equal("");
      await cart.trouble({ code });
      await widget.check(rich);
      expect(widget.alert).to.equal(plain(en.errors[code]));
      expect(widget.number.checkVisibility()).to.equal(false);
      expect(widget.number.value + widget.pin.value).to.equal("");
      expect(widget.element.checkValidity()).to.equal(true);
    });

  it("keeps the number, and clears and focuses the PIN if the two don't match", async () => {
    const widget = await show(await makeCart());
    await widget.check({ number: rich.number, pin: "999999" });
    expect(widget.number.value).to.equal("6064 3500 0000 0001 234");
    expect(widget.pin.value).to.equal("");
    expect(widget.focused).to.equal("pin");
    expect(widget.pin.getAttribute("aria-invalid")).to.equal("true");
    expect(widget.pin.getAttribute("aria-describedby")).to.contain("error");
  });

  it("focuses the number if the card itself can't be used", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ code: "card_blocked" });
    await widget.check(rich);
    expect(widget.focused).to.equal("number");
    expect(widget.number.getAttribute("aria-invalid")).to.equal("true");
    expect(widget.pin.getAttribute("aria-invalid")).to.equal("false");
  });

  for (const [code, name] of [
    ["invalid_card", "pin"],
    ["card_blocked", "number"],
    ["quote_expired", "pin"],
  ] as const)
    it(`shows ${code} below the field, and the button stays where it is if the field is beside it`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      widget.element.style.inlineSize = "390px";
      await cart.trouble({ code });
      const button = widget.button("Use card");
      const { top } = button.getBoundingClientRect();
      await widget.enter(rich);
      await widget.until(() => widget.alert !== "" && widget.focused === name, "the error is shown");
      const error = widget.find(`#${name}-error .error`) as HTMLElement;
      const field = widget.find(`#${name}`) as HTMLElement;
      expect(plain(error.textContent)).to.equal(plain(en.errors[code]));
      expect(field.getAttribute("aria-describedby")).to.contain(`${name}-error`);
      expect(error.getBoundingClientRect().top).to.be.within(
        field.getBoundingClientRect().bottom,
        field.getBoundingClientRect().bottom + 10,
      );
      expect(widget.find(".alert")).to.equal(null);
      expect(button.getBoundingClientRect().top - top).to.be.within(0, name === "pin" ? 0 : 60);
    });

  it("shows no error of the order or of an applied card at the fields", async () => {
    const widget = await show(await makeCart());
    await widget.element.showError("card_blocked");
    await widget.settled();
    expect(plain(widget.find(".alert")?.textContent ?? "")).to.equal(plain(en.errors.card_blocked));
    expect(widget.invalid).to.deep.equal([]);
  });

  it("shows a wait in another colour than a mistake", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.enter({ number: rich.number, pin: "1" });
    await widget.until(() => widget.focused === "pin" && widget.alert !== "", "the mistake is shown");
    const mistake = getComputedStyle(widget.find(".error") as HTMLElement).color;
    await cart.trouble({ code: "too_many_attempts", retryAfterSeconds: 60 });
    await widget.type("2");
    await widget.key("Enter");
    await widget.until(() => !!widget.find(".alert"), "the wait is shown");
    const { color, borderTopColor } = getComputedStyle(widget.find(".alert") as HTMLElement);
    expect([color, borderTopColor]).not.to.include(mistake);
    expect(widget.find(".error")).to.equal(null);
    expect(widget.invalid).to.deep.equal([]);
    await expect(widget.element).to.be.accessible();
  });

  it("shows the button as the next step once both fields are filled", async () => {
    const widget = await show(await makeCart());
    const colour = () => getComputedStyle(widget.button("Use card")).backgroundColor;
    const empty = colour();
    widget.number.focus();
    await widget.type(rich.number);
    await widget.key("Tab");
    expect(colour()).to.equal(empty);
    await widget.type("0");
    await widget.settled();
    expect(colour()).to.equal("rgb(31, 79, 209)");
    await widget.key("Backspace");
    await widget.settled();
    expect(colour()).to.equal(empty);
  });

  it("marks empty fields, and removes a message while its field is being filled", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.press(widget.button("Use card"));
    expect(widget.focused).to.equal("number");
    expect(widget.text).to.contain("Enter the card number.");
    expect(widget.text).to.contain("Enter the PIN.");
    await expect(widget.element).to.be.accessible();
    await widget.type("6");
    await widget.settled();
    expect(widget.text).not.to.contain("Enter the card number.");
    expect(widget.text).to.contain("Enter the PIN.");
    expect((await cart.calls()).filter((call) => call.method === "POST")).to.have.length(0);
  });

  it("shows how long to wait, and then allows another try", async () => {
    const cart = await makeCart({ maxWrong: 2, lockSeconds: 5 });
    const widget = await show(cart);
    await widget.check({ number: rich.number, pin: "1" });
    await widget.check({ number: rich.number, pin: "2" });
    expect(widget.alert).to.contain("You can try again in 5 seconds.");
    expect(widget.button("Use card").getAttribute("aria-disabled")).to.equal("true");
    await widget.enter(rich);
    expect((await cart.calls()).filter((call) => call.method === "POST")).to.have.length(2);
    await widget.until(() => widget.status === "You can try again now.", "the wait is over");
    expect(widget.alert).to.equal("");
    await widget.check(rich);
    expect(widget.text).to.contain("Balance €75.00");
  });

  it("asks the shopper for patience while a response is slow", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ delayMs: 7000 });
    await widget.enter(rich);
    await widget.until(() => widget.text.includes("This is taking longer than usual."), "the notice is shown");
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
    expect(widget.text).not.to.contain("longer than usual");
  });

  it("reads the wait from a Retry-After header in seconds", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const errors = listen(widget, "giftcard-error");
    await cart.trouble({ code: "too_many_attempts", retryAfterSeconds: 900, headerOnly: true });
    await widget.check(rich);
    expect(widget.alert).to.contain("You can try again in 15 minutes.");
    expect(errors[0]?.detail.retryAfterSeconds).to.equal(900);
  });

  it("reads the wait from a Retry-After header with a date", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const errors = listen(widget, "giftcard-error");
    const at = new Date(Date.now() + 900_000).toUTCString();
    widget.element.transport = async () => new Response("{}", { status: 429, headers: { "retry-after": at } });
    await widget.check(rich);
    expect(errors[0]?.detail.retryAfterSeconds).to.be.within(890, 900);
    expect(errors[0]?.detail.status).to.equal(429);
  });

  it("logs a hint for the developer, once, if the endpoint is missing", async () => {
    const hints: string[] = [];
    const { warn } = console;
    console.warn = (text: string) => hints.push(text);
    try {
      for (const cart of [await makeCart(), await makeCart()]) {
        const { element } = await show(cart);
        element.endpoint = "";
        await element.updateComplete;
      }
    } finally {
      console.warn = warn;
    }
    expect(hints).to.deep.equal(["giftcard-pay: the tag has a cart but no endpoint."]);
  });

  for (const cut of ["before", "after"] as const) {
    it(`fetches the balance again after the connection broke ${cut} the shop did its work`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      await cart.trouble({ cut });
      await widget.check(rich);
      expect(widget.alert).to.contain("No answer from the shop.");
      expect(widget.focused).to.equal("retry");
      await expect(widget.element).to.be.accessible();
      await widget.press("#retry");
      expect(widget.text).to.contain("Balance €75.00");
      expect(widget.alert).to.equal("");
      expect(widget.pin.value).to.equal("");
    });

    it(`applies a card once although the connection broke ${cut} the shop did its work`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      const applied = listen(widget, "giftcard-applied");
      await widget.check(rich);
      await cart.trouble({ cut });
      await widget.press("#apply");
      expect(widget.alert).to.contain("No answer from the shop.");
      await widget.press("#retry");
      expect(widget.text).to.contain("Card ending in 1234 −€50.00");
      expect(widget.alert).to.equal("");
      expect(applied).to.have.length(1);
      expect(await cart.appliedCount()).to.equal(1);
    });

    it(`removes a card once although the connection broke ${cut} the shop did its work`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      await widget.apply(rich);
      await cart.trouble({ cut });
      await widget.press(widget.button("Remove card ending in 1234"));
      expect(widget.alert).to.contain("No answer from the shop.");
      await widget.press("#retry");
      expect(widget.text).not.to.contain("•••• 1234");
      expect(await cart.appliedCount()).to.equal(0);
    });
  }

  it("applies a card once although the browser sent the call twice", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.check(rich);
    await cart.trouble({ cut: "silent" });
    await widget.press("#apply");
    if (widget.alert !== "") await widget.press("#retry");
    expect(widget.text).to.contain("Card ending in 1234 −€50.00");
    expect(widget.alert).to.equal("");
    expect(await cart.appliedCount()).to.equal(1);
  });

  it("offers to load the cart again after a failure, and takes a card meanwhile", async () => {
    const cart = await makeCart({ faults: [{ raw: "<html>busy</html>", code: undefined, status: 502 }] });
    const widget = await show(cart);
    expect(widget.alert).to.contain("Gift cards can't be checked right now.");
    expect(widget.number.checkVisibility()).to.equal(true);
    await widget.press("#retry");
    await widget.until(() => widget.alert === "", "the cart is read");
    expect(widget.element.summary?.remainderCents).to.equal(7498);
  });

  it("reports an unreadable response or an unknown code as an error of the shop", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    for (const trouble of [{ raw: "{}" }, { raw: "<p>" }, { code: "brand_new" }]) {
      await cart.trouble(trouble);
      await widget.check(rich);
      expect(widget.alert).to.contain("Something went wrong on our side.");
    }
  });

  it("drops a quote that has expired at the shop, and keeps the number", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.check(rich);
    await cart.trouble({ code: "quote_expired" });
    await widget.press("#apply");
    expect(widget.alert).to.contain("Too much time has passed.");
    expect(widget.number.value).to.equal("6064 3500 0000 0001 234");
    expect(widget.focused).to.equal("pin");
  });

  it("shows the text for a code that the page got when placing the order", async () => {
    const widget = await show(await makeCart(), "nl");
    await widget.element.showError("outcome_unknown");
    await widget.settled();
    expect(widget.alert).to.contain("We weten nog niet of de betaling gelukt is.");
    await widget.element.refresh();
    await widget.settled();
    expect(widget.alert, "it stays after a refresh").to.contain("We weten nog niet");
    await widget.press("#retry");
    await waitUntil(() => widget.alert === "", "it is gone after a retry");
  });

  it("ignores a response for a cart that is no longer shown", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let answered = false;
    widget.element.transport = async (url, init) => {
      if (!url.endsWith("/quote")) return fetch(url, init);
      // Without the signal, the response arrives although the widget has aborted the call.
      const response = await fetch(url, { ...init, signal: null });
      await released;
      answered = true;
      return response;
    };
    await widget.enter(poor);
    const other = await makeCart();
    widget.element.cart = other.id;
    await widget.until(() => widget.element.summary?.cartId === other.id, "the other cart is shown");
    release();
    await widget.until(() => answered, "the late response has arrived");
    await widget.settled();
    expect(!!widget.find("#apply")).to.equal(false);
    expect(widget.alert).to.equal("");
  });
});
