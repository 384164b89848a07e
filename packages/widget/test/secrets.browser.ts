import { expect, makeCart, paste, rich, show, type Widget } from "./shop/page.js";

/** Returns everything on the page that is readable outside the values of the fields. */
function traces(widget: Widget, events: Event[]): string {
  const attributes = [widget.element, ...widget.root.querySelectorAll("*")].flatMap((element) =>
    [...element.attributes].map((attribute) => attribute.value),
  );
  return [
    ...attributes,
    document.documentElement.outerHTML,
    widget.root.innerHTML,
    JSON.stringify(events.map((event) => (event as CustomEvent).detail)),
    JSON.stringify({ ...localStorage }),
    JSON.stringify({ ...sessionStorage }),
    document.cookie,
    location.href,
    ...performance.getEntriesByType("resource").map((entry) => entry.name),
  ].join("\n");
}

function collect(widget: Widget): Event[] {
  const events: Event[] = [];
  for (const type of ["before-apply", "applied", "removed", "error", "total"])
    widget.element.addEventListener(`giftcard-${type}`, (event) => events.push(event));
  return events;
}

describe("card number and PIN", () => {
  it("are in no attribute, event, storage or URL, and not in the fields after use", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    const events = collect(widget);
    await widget.check({ number: rich.number, pin: "987654" });
    expect(traces(widget, events)).not.to.contain("987654");
    await widget.check(rich);
    expect(widget.pin.value).to.equal("");
    await cart.trouble({ cut: "after" });
    await widget.press("#apply");
    await widget.press("#retry");
    expect(widget.number.value).to.equal("");
    expect(events).to.have.length(6);
    const found = traces(widget, events);
    expect(found).not.to.contain(rich.number);
    expect(found).not.to.contain(rich.pin);
    for (const { url } of await cart.calls()) expect(url).not.to.contain(rich.number);
  });

  it("are sent as strings, with leading zeros and without spaces or dashes", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.check({ number: " 6064-3500 0000\u00a00001２34 ", pin: "０12 345\u200b " });
    expect(JSON.parse((await cart.calls()).at(-1)?.body ?? "")).to.deep.equal({
      cardNumber: rich.number,
      pin: rich.pin,
    });
    expect(widget.text).to.contain("Balance €75.00");
  });

  it("are split if they are pasted together", async () => {
    const widget = await show(await makeCart());
    widget.number.focus();
    expect(paste(widget.number, "Card number: 6064 3500 0000 0001 234, PIN: 012345").defaultPrevented).to.equal(true);
    expect(widget.number.value.replaceAll(" ", "")).to.equal(rich.number);
    expect(widget.pin.value).to.equal(rich.pin);
    expect(widget.focused).to.equal("pin");
  });

  it("lose their labels if they are pasted one by one, and don't overwrite each other", async () => {
    const widget = await show(await makeCart());
    widget.pin.focus();
    paste(widget.pin, "PIN: 012345");
    expect([widget.number.value, widget.pin.value]).to.deep.equal(["", rich.pin]);
    widget.number.focus();
    paste(widget.number, "Card number: 6064 3500 0000 0001 234");
    expect([widget.number.value, widget.pin.value]).to.deep.equal(["6064 3500 0000 0001 234", rich.pin]);
  });

  it("are split if a scanner types both into the first field", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.number.focus();
    await widget.type("https://cards.example/6064350000000001234?pin=012345");
    await widget.key("Enter");
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
    expect(widget.number.value.replaceAll(" ", "")).to.equal(rich.number);
    expect(JSON.parse((await cart.calls()).at(-1)?.body ?? "").pin).to.equal(rich.pin);
  });

  for (const key of [" ", "Tab", "Enter"])
    it(`are told apart if a scanner types ${key === " " ? "a space" : key} between them`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      widget.number.focus();
      await widget.type(rich.number);
      await widget.key(key);
      await widget.type(rich.pin);
      await widget.key("Enter");
      await widget.until(() => !!widget.find("#apply"), "the quote is shown");
      expect(JSON.parse((await cart.calls()).at(-1)?.body ?? "")).to.deep.equal({
        cardNumber: rich.number,
        pin: rich.pin,
      });
    });

  for (const text of [
    "Card 1: 6064350000000001234 PIN: 012345, card 2: 6064350000000005678 PIN: 000007",
    "606435 000000 0001234 PIN 012345",
    "Valid until 31.05.2027",
  ])
    it(`are not sent, and cost no attempt, as long as the text is unclear: ${text}`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      widget.number.focus();
      document.execCommand("insertText", false, text);
      await widget.key("Tab");
      await widget.type(rich.pin);
      await widget.key("Enter");
      await widget.until(() => widget.alert !== "", "the error is shown");
      expect(widget.alert).to.equal("We can't read this. Check the number and the PIN.");
      expect(widget.invalid).to.deep.equal(["number", "pin"]);
      expect(widget.number.value, "it is left as it is").to.equal(text);
      expect((await cart.calls()).filter(({ method }) => method === "POST")).to.have.length(0);
    });

  for (const pin of ["a*1-]c1", "code1234", "!#$%&'()+,./:;<=>?@[\\]^_`{|}~", "12-34", "*"])
    it(`may be a PIN such as ${pin}`, async () => {
      const cart = await makeCart({ cards: [{ ...rich, pin }] });
      const widget = await show(cart);
      await widget.check({ number: rich.number, pin });
      expect(widget.text).to.contain("Balance €75.00");
      expect(JSON.parse((await cart.calls()).at(-1)?.body ?? "").pin).to.equal(pin);
    });

  it("let the browser paste a number alone", async () => {
    const widget = await show(await makeCart());
    expect(paste(widget.number, "6064 3500 0000 0001 234").defaultPrevented).to.equal(false);
  });

  it("show the PIN on demand, and mask it again after use", async () => {
    const widget = await show(await makeCart());
    expect(getComputedStyle(widget.pin).getPropertyValue("-webkit-text-security")).to.equal("disc");
    await widget.press(widget.button("Show PIN"));
    expect(getComputedStyle(widget.pin).getPropertyValue("-webkit-text-security")).to.equal("none");
    await widget.check({ number: rich.number, pin: "1" });
    expect(getComputedStyle(widget.pin).getPropertyValue("-webkit-text-security")).to.equal("disc");
  });

  it("keep the PIN only while the shopper can repeat the same call", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await cart.trouble({ code: "service_unavailable" });
    await widget.check(rich);
    expect(widget.pin.value).to.equal(rich.pin);
    await widget.press("#retry");
    expect(widget.pin.value).to.equal("");
  });
});
