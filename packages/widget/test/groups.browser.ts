import { hasDevtools, send } from "./shop/devtools.js";
import { expect, makeCart, rich, show, type Widget } from "./shop/page.js";

const shown = "6064 3500 0000 0001 234";

/** Returns the text of the field with a bar at the caret. */
function field({ number }: Widget): string {
  const { value, selectionStart, selectionEnd } = number;
  expect(selectionStart, "nothing is selected").to.equal(selectionEnd);
  return `${value.slice(0, selectionStart ?? 0)}|${value.slice(selectionStart ?? 0)}`;
}

async function typed(text: string, caret: number, end = caret): Promise<Widget> {
  const widget = await show(await makeCart());
  widget.number.focus();
  await widget.type(text);
  widget.number.setSelectionRange(caret, end);
  return widget;
}

describe("the digits of a card number", () => {
  it("are grouped while they are typed, and sent without spaces", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.number.focus();
    await widget.type("6064");
    expect(field(widget)).to.equal("6064|");
    await widget.type(rich.number.slice(4));
    expect(field(widget)).to.equal(`${shown}|`);
    await widget.key("Tab");
    await widget.type(rich.pin);
    expect(widget.pin.value, "a PIN has no groups").to.equal(rich.pin);
    await widget.key("Enter");
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
    const sent = (await cart.calls()).find(({ method }) => method === "POST");
    expect(JSON.parse(sent?.body ?? "").cardNumber).to.equal(rich.number);
  });

  it("may be typed with spaces or dashes, or in another script", async () => {
    const widget = await typed("6064 3500-0000 \u0660\uff10", 30);
    expect(field(widget)).to.equal("6064 3500 0000 00|");
  });

  it("keep the caret in place when digits are inserted, deleted or replaced", async () => {
    let widget = await typed(rich.number, 7);
    await widget.type("99");
    expect(field(widget)).to.equal("6064 3599| 0000 0000 0123 4");
    await widget.type("8");
    expect(field(widget)).to.equal("6064 3599 8|000 0000 0012 34");
    await widget.key("Backspace");
    expect(field(widget)).to.equal("6064 3599| 0000 0000 0123 4");
    widget.element.remove();
    widget = await typed(rich.number, 3, 12);
    await widget.type("1");
    expect(field(widget)).to.equal("6061| 0000 0123 4");
    widget.element.remove();
    widget = await typed(rich.number, 4, 10);
    await widget.key("Backspace");
    expect(field(widget)).to.equal("6064| 0000 0001 234");
  });

  it("are deleted across a gap with a single key", async () => {
    let widget = await typed(rich.number, 5);
    await widget.key("Backspace");
    expect(field(widget)).to.equal("606|3 5000 0000 0012 34");
    widget.element.remove();
    widget = await typed(rich.number, 4);
    await widget.key("Delete");
    expect(field(widget)).to.equal("6064| 5000 0000 0012 34");
    widget.element.remove();
    widget = await typed(rich.number, 99);
    for (let left = rich.number.length; left > 0; left--) await widget.key("Backspace");
    expect(widget.number.value, "each key deletes a digit").to.equal("");
  });

  it("are typed again by undoing, from the last key to the first, and grouped again by typing on", async () => {
    const widget = await typed(rich.number.slice(0, 9), 99);
    await widget.key("ArrowLeft");
    await widget.key("Backspace");
    expect(field(widget)).to.equal("6064 350|0");
    const seen = [];
    for (let presses = 0; presses < 12 && widget.number.value; presses++) {
      // WebKit's driver presses the keys, but WebKitGTK does not undo by them.
      if (navigator.vendor.startsWith("Apple")) document.execCommand("undo");
      else await widget.key("Control+z");
      seen.push(widget.number.value);
    }
    expect(widget.number.value, seen.join()).to.equal("");
    expect(seen[0]?.replaceAll(" ", ""), "the deleted digit").to.equal("606435000");
    await widget.type("60643");
    expect(field(widget)).to.equal("6064 3|");
  });

  it("are grouped when they are pasted or filled in, without moving the focus", async () => {
    const widget = await typed("", 0);
    document.execCommand("insertText", false, "6064-3500-0000-0001-234");
    expect(field(widget)).to.equal(`${shown}|`);
    widget.pin.focus();
    widget.number.value = rich.number;
    widget.number.dispatchEvent(new InputEvent("input", { bubbles: true }));
    expect(widget.number.value).to.equal(shown);
    expect(widget.focused).to.equal("pin");
  });

  it("are not grouped if there are letters among them", async () => {
    const widget = await typed("AB 1234 5678", 3);
    await widget.key("Backspace");
    expect(field(widget)).to.equal("AB|1234 5678");
  });
});

(hasDevtools ? describe : describe.skip)("the digits of a card number, with an input method", () => {
  it("are not grouped before the input method has finished composing", async () => {
    const widget = await typed("", 0);
    const composed = { selectionStart: 5, selectionEnd: 5, text: "60643" };
    await send("Input.imeSetComposition", composed);
    expect(widget.number.value).to.equal("60643");
    await send("Input.insertText", { text: "60643" });
    await widget.until(() => widget.number.value === "6064 3", "groups");
    expect(field(widget)).to.equal("6064 3|");
  });
});
