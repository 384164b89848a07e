import { setViewport } from "@web/test-runner-commands";
import { en } from "../src/messages/en.js";
import { builtInLanguages } from "../src/messages/index.js";
import { accessibilityTree, emulateMedia, hasDevtools } from "./shop/devtools.js";
import { expect, makeCart, poor, rich, show, type Widget } from "./shop/page.js";

const form = (...details: string[]) => [
  "form",
  `textbox "Gift card number"${details[0] ?? ""} required`,
  "alert",
  `textbox "PIN"${details[1] ?? ""} required`,
  'button "Show PIN"',
  'button "Use card"',
  "alert",
  "alert",
  "status",
];

const figures = (...terms: string[]) => [
  "DescriptionList",
  ...terms.flatMap((term) => [`term "${term}"`, "definition"]),
];

const quote = (focused: string) => [
  'group "Card ending in 1234"',
  ...figures("Left to pay"),
  `button "Apply €50.00"${focused}`,
  'button "Cancel"',
];

const cards = (...lastFour: string[]) => [
  'group "Gift cards"',
  "list",
  ...lastFour.flatMap((last4) => ["listitem", `button "Remove card ending in ${last4}"`]),
];

(hasDevtools ? describe : describe.skip)("the accessibility tree", () => {
  const tree = () => accessibilityTree("Gift card");

  it("describes the form: empty, with missing fields, refused, and locked", async () => {
    const cart = await makeCart({ maxWrong: 2, lockSeconds: 60 });
    const widget = await show(cart);
    expect(await tree()).to.deep.equal(form());
    await widget.press(widget.button("Use card"));
    expect(await tree()).to.deep.equal(form(" invalid focused", " invalid"));
    await widget.check({ number: rich.number, pin: "1" });
    expect(await tree()).to.deep.equal(form(" invalid", " invalid focused"));
    await widget.check({ number: rich.number, pin: "2" });
    expect((await tree()).filter((line) => line.startsWith("button"))[1]).to.equal('button "Use card" disabled');
  });

  it("describes the quote, an error, the applied cards, and the remainder", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    await widget.check(rich);
    expect(await tree()).to.deep.equal([...quote(" focused"), "alert", "status"]);
    await cart.trouble({ cut: "before" });
    await widget.press("#apply");
    expect(await tree()).to.deep.equal([...quote(""), "alert", 'button "Try again" focused', "status"]);
    await widget.press("#retry");
    const [total, left] = [figures("Gift cards"), figures("Left to pay")];
    const another = 'button "Add another card" focused';
    expect(await tree()).to.deep.equal([...cards("1234"), ...left, "alert", another, "status"]);
    await widget.press("#add");
    await widget.apply(poor);
    expect(await tree()).to.deep.equal([...cards("1234", "5678"), ...total, ...left, "alert", another, "status"]);
    await cart.change({ totalCents: 5000 });
    await widget.element.refresh();
    await widget.settled();
    expect(await tree()).to.deep.equal([...cards("1234", "5678"), ...total, "alert", "status"]);
  });
});

/** Expects that nothing overflows the page or the tag, and that buttons and fields are large enough to hit. */
function expectFit(widget: Widget): void {
  const { left, right } = widget.element.getBoundingClientRect();
  expect(document.documentElement.scrollWidth, "no scrolling sideways").to.be.at.most(innerWidth);
  for (const part of widget.root.querySelectorAll<HTMLElement>("button, input, p, dt, dd, label, li")) {
    if (!part.checkVisibility() || part.closest(".silent")) continue;
    const box = part.getBoundingClientRect();
    expect(box.left, part.outerHTML).to.be.at.least(left - 9);
    expect(box.right, part.outerHTML).to.be.at.most(right + 9);
    if (part.matches("button, input")) expect(Math.min(box.width, box.height), part.outerHTML).to.be.at.least(44);
  }
}

/** Expects that each button's name contains its visible text, for voice control, and that its focus is visible. */
function expectOperable(widget: Widget): void {
  for (const button of widget.root.querySelectorAll<HTMLElement>("button")) {
    if (!button.checkVisibility()) continue;
    const written = [...button.querySelectorAll("[aria-hidden]")].reduce(
      (text, part) => text.replace(part.textContent, ""),
      button.textContent,
    );
    const name = button.getAttribute("aria-label") ?? written;
    expect(name.toLowerCase()).to.contain(written.trim().toLowerCase());
    // WebKit has no `focusVisible`: it shows only the focus that a key moves.
    if (navigator.vendor.startsWith("Apple")) continue;
    button.focus({ focusVisible: true } as FocusOptions);
    const { outlineStyle, outlineWidth } = getComputedStyle(button);
    expect(outlineStyle, button.outerHTML).to.equal("solid");
    expect(Number.parseFloat(outlineWidth), button.outerHTML).to.be.at.least(2);
  }
}

/** Runs a check in the states with the most content: a refusal, the limit explained, two cards with more to pay. */
async function throughStates(widget: Widget, check: () => Promise<void> | void): Promise<void> {
  const press = async (selector: string) => {
    await widget.press(selector);
    await check();
  };
  const enter = async (card: { number: string; pin: string }) => {
    await widget.fill(card);
    await press("button[type=submit]");
  };
  await check();
  await enter({ number: rich.number, pin: "1" });
  await enter(rich);
  await press("#apply");
  await press("#add");
  await enter(poor);
  await press("#apply");
}

describe("layout and names", () => {
  afterEach(() => {
    document.documentElement.style.fontSize = "";
  });

  it("fits at twice the font size, in every language", async () => {
    document.documentElement.style.fontSize = "200%";
    for (const lang of builtInLanguages())
      for (const width of ["640px", "320px"]) {
        const widget = await show(await makeCart(), lang);
        widget.element.style.inlineSize = width;
        await throughStates(widget, () => expectFit(widget));
        widget.element.remove();
      }
  });

  it("fits with more space between letters, words and lines, in every language", async () => {
    for (const lang of builtInLanguages()) {
      const widget = await show(await makeCart(), lang);
      Object.assign(widget.element.style, {
        inlineSize: "320px",
        letterSpacing: "0.12em",
        wordSpacing: "0.16em",
        lineHeight: "1.5",
      });
      await throughStates(widget, () => expectFit(widget));
      widget.element.remove();
    }
  });

  it("names each button by its visible text and shows the focus, in every language", async () => {
    for (const lang of builtInLanguages()) {
      const widget = await show(await makeCart(), lang);
      await throughStates(widget, () => expectOperable(widget));
      widget.element.remove();
    }
  });

  it("puts Apply and Cancel on one line at 320 pixels, in every language", async () => {
    for (const lang of builtInLanguages()) {
      const widget = await show(await makeCart(), lang);
      // The page around it has a padding.
      widget.element.style.inlineSize = "288px";
      await widget.check(rich);
      const [apply, cancel] = [...widget.root.querySelectorAll("#apply, #apply + button")].map((part) =>
        part.getBoundingClientRect(),
      );
      expect(cancel?.top, lang).to.equal(apply?.top);
      widget.element.remove();
    }
  });

  it("puts fields and button on one line if there is room, else the number on a line above", async () => {
    const widget = await show(await makeCart());
    const labels = () =>
      [...widget.root.querySelectorAll("label")].map((label) => label.getBoundingClientRect().bottom);
    widget.element.messages = { pin: "The code below the silver strip" };
    const bottoms = () =>
      [widget.number, widget.pin, widget.button("Use card")].map((part) =>
        Math.round(part.getBoundingClientRect().bottom),
      );
    const expectLines = (isWide: boolean) => {
      const [number, pin, button] = bottoms() as [number, number, number];
      expect(pin).to.equal(button);
      expect(number === pin, `${number} and ${pin}`).to.equal(isWide);
      if (isWide) expect(labels()[0]).to.be.closeTo(labels()[1] ?? 0, 1);
    };
    for (const width of ["660px", "420px", "300px"]) {
      widget.element.style.inlineSize = width;
      await widget.element.updateComplete;
      expectLines(width === "660px");
      await widget.press(widget.button("Use card"));
      expectLines(width === "660px");
      widget.element.form?.reset();
    }
  });

  it("shows a pending call in its button without moving it", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.element.style.inlineSize = "400px";
    await cart.trouble({ delayMs: 600 });
    const button = widget.button("Use card");
    const place = JSON.stringify(button.getBoundingClientRect());
    await widget.enter(rich);
    await widget.element.updateComplete;
    expect(getComputedStyle(button, "::before").borderTopStyle).to.equal("solid");
    expect(JSON.stringify(button.getBoundingClientRect())).to.equal(place);
    await widget.settled();
    expect(getComputedStyle(button, "::before").borderTopStyle).to.equal("none");
  });

  it("reads from right to left in a right-to-left language", async () => {
    document.documentElement.dir = "rtl";
    const widget = await show(await makeCart(), "ar");
    widget.element.messages = en;
    await throughStates(widget, () => expectFit(widget));
    const [row] = [...widget.root.querySelectorAll("li .row")];
    const [name, , amount] = [...(row?.children ?? [])].map((part) => part.getBoundingClientRect());
    expect(name?.right ?? 0).to.be.above(amount?.right ?? 0);
    await widget.press("#add");
    const [field, eye] = [widget.pin, widget.button("Show PIN")].map((part) => part.getBoundingClientRect());
    expect(eye?.left).to.be.closeTo(field?.left ?? 0, 1);
    expect(getComputedStyle(widget.number).direction, "the groups of a number").to.equal("ltr");
    document.documentElement.dir = "";
  });
});

(hasDevtools ? describe : describe.skip)("browser settings", () => {
  afterEach(async () => {
    await emulateMedia({});
    await setViewport({ width: 800, height: 600 });
  });

  it("fits at 400 % zoom, in every language", async () => {
    await setViewport({ width: 320, height: 256 });
    for (const lang of builtInLanguages()) {
      const widget = await show(await makeCart(), lang);
      await throughStates(widget, () => expectFit(widget));
      widget.element.remove();
    }
  });

  it("shows borders, invalid fields and locked buttons in forced colours", async () => {
    await emulateMedia({ "forced-colors": "active" });
    const widget = await show(await makeCart({ maxWrong: 2 }));
    const style = (part: HTMLElement) => getComputedStyle(part);
    const width = style(widget.number).borderTopWidth;
    expect(Number.parseFloat(width)).to.be.above(0);
    await widget.check({ number: rich.number, pin: "1" });
    expect(Number.parseFloat(style(widget.pin).borderTopWidth)).to.be.above(Number.parseFloat(width));
    const open = style(widget.button("Use card")).color;
    await widget.check({ number: rich.number, pin: "2" });
    expect(style(widget.find("button[type=submit]") as HTMLElement).color).not.to.equal(open);
    await expect(widget.element).to.be.accessible();
    await emulateMedia({ "forced-colors": "active", "prefers-color-scheme": "dark" });
    const glyph = widget.find(".glyph") as unknown as HTMLElement;
    expect(style(glyph).stroke, "of the text's colour").to.equal(style(widget.number).color);
  });

  it("is readable on a dark page in every state", async () => {
    await emulateMedia({ "prefers-color-scheme": "dark" });
    document.documentElement.style.cssText = "color-scheme: dark; background: #121418; color: #eceef2";
    const widget = await show(await makeCart());
    await throughStates(widget, () => expect(widget.element).to.be.accessible());
    document.documentElement.style.cssText = "";
  });

  it("animates only the spinner of a pending call, and nothing if the shopper prefers reduced motion", async () => {
    for (const preference of ["reduce", "no-preference"]) {
      await emulateMedia({ "prefers-reduced-motion": preference });
      const cart = await makeCart();
      const widget = await show(cart);
      await throughStates(widget, () => expect(widget.root.getAnimations()).to.deep.equal([]));
      await cart.trouble({ delayMs: 600 });
      await widget.start("[data-remove]");
      await widget.element.updateComplete;
      const moving = widget.root.getAnimations().map((animation) => (animation as CSSAnimation).animationName);
      expect(moving).to.deep.equal(preference === "reduce" ? [] : ["turn"]);
      await widget.settled();
      widget.element.remove();
    }
  });
});
