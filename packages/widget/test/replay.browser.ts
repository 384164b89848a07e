import { record } from "rrweb";
import { expect, makeCart, paste, poor, rich, show } from "./shop/page.js";

/** Returns all texts in a value, such as recorded events. Numbers are times and positions. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

/** The first group of a card number, or a PIN as far as it is typed. */
const secrets = /6064|^0\d{1,5}$/;

describe("a session recorder with its default settings", () => {
  for (const isShown of [false, true])
    it(`records neither number nor PIN ${isShown ? "while the PIN is shown" : "while the PIN is masked"}`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      const plain = document.createElement("input");
      widget.element.before(plain);
      const texts: string[] = [];
      const emit = (event: unknown) => texts.push(...textsIn(event));
      let stop = record({ emit });
      plain.focus();
      await widget.type("visible to the recorder");
      widget.number.focus();
      await widget.type(rich.number);
      await widget.key("Tab");
      await widget.type(rich.pin.slice(0, 3));
      if (isShown) {
        await widget.key("Tab");
        await widget.key(" ");
        await widget.key("Shift+Tab");
        await widget.key("End");
      }
      await widget.type(rich.pin.slice(3));
      // A recorder that starts later takes a picture of the fields as they are.
      stop?.();
      stop = record({ emit });
      await cart.trouble({ code: "service_unavailable" });
      await widget.key("Enter");
      await widget.until(() => widget.focused === "retry", "the error is shown");
      paste(widget.number, `${poor.number} PIN ${poor.pin}`);
      await widget.until(() => widget.pin.value === poor.pin, "another card is pasted");
      expect(getComputedStyle(widget.pin).getPropertyValue("-webkit-text-security")).to.equal(
        isShown ? "none" : "disc",
      );
      await widget.key("Enter");
      await widget.until(() => !!widget.find("#apply"), "the quote is shown");
      stop?.();
      plain.remove();
      expect(texts).to.include("visible to the recorder");
      expect(texts, "the fields are recorded").to.include("*".repeat(rich.pin.length));
      expect(texts.filter((text) => secrets.test(text))).to.deep.equal([]);
    });
});

describe("listeners of the page", () => {
  const typing = ["keydown", "keypress", "keyup", "beforeinput", "input", "compositionend", "paste", "change"];

  it("hear no digit in the bubbling phase, and still other keys", async () => {
    const widget = await show(await makeCart());
    const heard = new Set<string>();
    const listen = (event: Event) => heard.add((event as KeyboardEvent).key ?? event.type);
    const targets = [widget.element, document.body, document, window];
    for (const target of targets) for (const type of typing) target.addEventListener(type, listen);
    widget.number.focus();
    await widget.type("1");
    paste(widget.number, `${rich.number} ${rich.pin}`);
    await widget.until(() => widget.pin.value === rich.pin, "the card is pasted");
    await widget.type("2");
    await widget.key("Escape");
    for (const target of targets) for (const type of typing) target.removeEventListener(type, listen);
    expect([...heard]).to.deep.equal(["Escape"]);
  });

  it("hear what shoppers type into the page's own content in a slot", async () => {
    const widget = await show(await makeCart());
    const field = document.createElement("input");
    field.slot = "terms";
    widget.element.append(field);
    const heard: string[] = [];
    const listen = ({ data }: Event & { data?: string | null }) => heard.push(data ?? "");
    document.addEventListener("input", listen);
    field.focus();
    await widget.type("ok");
    document.removeEventListener("input", listen);
    expect(heard).to.deep.equal(["o", "k"]);
  });
});
