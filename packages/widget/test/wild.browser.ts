import { fixture, html, oneEvent } from "@open-wc/testing";
import { GiftcardPay } from "../src/define.js";
import { endpoint, expect, makeCart, plain, poor, rich, show, type TestCart, type Widget } from "./shop/page.js";

/** Returns the texts in a part of the page that a person could read, as translators find them. */
function textsIn(root: ParentNode): Text[] {
  const walker = document.createTreeWalker(root as Node, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  return texts.filter(({ data, parentElement }) => /\p{L}/u.test(data) && !parentElement?.closest("[translate=no]"));
}

/** Ways in which others replace text nodes, as browsers' translators, dictionaries and overlays do. */
const replacers = {
  "a translator": (text: Text) => {
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    inner.textContent = `[${text.data}]`;
    outer.append(inner);
    text.replaceWith(outer);
  },
  "a dictionary that wraps words": (text: Text) => {
    const words = text.data.split(/(?<=\s)/).map((word) => {
      const span = document.createElement("span");
      span.textContent = word;
      return span;
    });
    text.replaceWith(...words);
  },
  "an overlay that makes new text nodes": (text: Text) => {
    if (text.data.length > 3) text.replaceWith(...(text.data.match(/.{1,3}/gsu) ?? []));
  },
  "a script that removes the text": (text: Text) => text.remove(),
  "a script that sets the text of elements": ({ data, parentElement }: Text) => {
    if (parentElement && !parentElement.childElementCount && data[0] !== "[") parentElement.innerText = `[${data}]`;
  },
  // Its answer is about the text that it read.
  "a translator that is slow": (text: Text) => {
    const font = document.createElement("font");
    font.textContent = `[${text.data}]`;
    setTimeout(() => text.replaceWith(font), slowMs);
  },
};

const slowMs = 200;

const known = new WeakSet<Text>();

for (const [who, replace] of Object.entries(replacers))
  describe(`on a page with ${who}`, () => {
    /** Replaces texts now, and after each change of the tag, as extensions do. */
    function live(widget: Widget): () => void {
      const run = () => {
        observer.disconnect();
        for (const text of textsIn(widget.root).filter((found) => !known.has(found))) {
          known.add(text);
          replace(text);
        }
        observer.observe(widget.root, { childList: true, characterData: true, subtree: true });
      };
      const observer = new MutationObserver(run);
      run();
      return () => observer.disconnect();
    }

    async function visit(options: object = {}): Promise<{ cart: TestCart; widget: Widget; read: () => string }> {
      const cart = await makeCart({ ...options });
      const widget = await show(cart);
      stop = live(widget);
      return { cart, widget, read: () => plain(widget.text).replace(/[[\]]/g, "") };
    }

    let stop = () => {};
    afterEach(() => stop());

    /** Loads the cart, and waits until everybody has replaced its texts. */
    async function refresh({ element }: Widget): Promise<void> {
      await element.refresh();
      await element.updateComplete;
      if (who.includes("slow")) await new Promise((resolve) => setTimeout(resolve, 2 * slowMs));
    }

    it("shows the amounts that it applies", async () => {
      const { cart, widget, read } = await visit();
      await widget.fill(rich);
      await widget.key("Enter");
      await widget.until(() => !!widget.find("#apply"), "the quote is shown");
      await cart.change({ totalCents: 3000 });
      await refresh(widget);
      const isText = !who.includes("removes");
      expect(read()).to.contain("€0.00");
      expect(read()).not.to.match(/50\.00|24\.98/);
      if (isText) expect(read()).to.contain("Apply €30.00");
      await widget.key("Enter");
      await widget.until(() => !widget.element.busy && widget.element.matches(":state(applied)"), "it is applied");
      await widget.element.updateComplete;
      expect(read()).to.contain("−€30.00");
      await cart.change({ totalCents: 4500 });
      await refresh(widget);
      expect(read()).to.contain("−€45.00");
      if (isText) expect(widget.status.replace(/[[\]]/g, "")).to.contain("Gift cards: €45.00.");
    });

    it("keeps what was typed, the focus, and a text that stays the same", async () => {
      const { widget } = await visit();
      await refresh(widget);
      const label = widget.find("label") as HTMLElement;
      const replaced = [...label.childNodes];
      widget.number.focus();
      await widget.type("6064 3");
      await widget.element.updateComplete;
      expect(widget.number.value).to.equal("6064 3");
      expect(widget.focused).to.equal("number");
      expect([...label.childNodes]).to.deep.equal(replaced);
    });
  });

describe("text that is inserted without a paste event", () => {
  const both = [
    "6064 3500 0000 0001 234 012345",
    "6064350000000001234 012345",
    "6064-3500-0000-0001-234 PIN 012345",
    "Card: 6064 3500 0000 0001 234, code: 012345",
    "6064350000000001234/012345",
  ];
  /** How keyboards, drops, corrections and password managers tell a page of an inserted text. */
  const ways: Record<string, (text: string) => Event> = {
    "by a keyboard's clipboard": (data) => new InputEvent("input", { data, inputType: "insertText" }),
    "by a drop": (data) => new InputEvent("input", { data, inputType: "insertFromDrop" }),
    "by a drop without data": () => new InputEvent("input", { inputType: "insertFromDrop" }),
    "as a replacement": (data) => new InputEvent("input", { data, inputType: "insertReplacementText" }),
    "by dictation": (data) => new CompositionEvent("compositionend", { data }),
    "by autofill": () => new Event("input"),
    "by a password manager": () => new Event("change"),
  };
  for (const [way, eventOf] of Object.entries(ways))
    it(`${way} fills both fields`, async () => {
      const widget = await show(await makeCart());
      for (const id of ["number", "pin"] as const)
        for (const text of both) {
          widget[id].value = text;
          widget[id].dispatchEvent(eventOf(text));
          expect([widget.number.value, widget.pin.value], `${text} in ${id}`).to.deep.equal([
            "6064 3500 0000 0001 234",
            "012345",
          ]);
          widget.element.formResetCallback();
        }
    });

  it("fills both fields if the browser inserts it, and can be sent", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.number.focus();
    document.execCommand("insertText", false, both[0]);
    expect([widget.number.value, widget.pin.value]).to.deep.equal(["6064 3500 0000 0001 234", "012345"]);
    await widget.key("Enter");
    await widget.until(() => !!widget.find("#apply"), "the quote is shown");
  });

  for (const id of ["number", "pin"] as const)
    it(`by a script that tells nobody fills both fields when the card is sent: ${id}`, async () => {
      const cart = await makeCart();
      const widget = await show(cart);
      widget[id].value = both[0] as string;
      widget[id].focus();
      await widget.key("Enter");
      await widget.until(() => !!widget.find("#apply"), "the quote is shown");
      const bodies = (await cart.calls()).filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body));
      expect(bodies).to.deep.equal([{ cardNumber: rich.number, pin: rich.pin }]);
    });

  it("by a password manager keeps the form until the card is applied", async () => {
    const widget = await show(await makeCart());
    for (const [name, value] of Object.entries({ number: rich.number, pin: rich.pin }))
      Object.assign(widget[name as "number" | "pin"], { value }).dispatchEvent(new Event("change"));
    await widget.element.updateComplete;
    expect(widget.element.checkValidity()).to.equal(false);
  });

  it("that could be several cards is left alone and not sent", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.number.focus();
    const text = `${rich.number} PIN ${rich.pin}, ${poor.number} PIN ${poor.pin}`;
    document.execCommand("insertText", false, text);
    expect(widget.number.value).to.equal(text);
    await widget.fill({ pin: rich.pin });
    await widget.press("[type=submit]");
    expect((await cart.calls()).filter(({ method }) => method === "POST")).to.have.length(0);
    expect(widget.alert).to.contain("We can't read this.");
  });
});

describe("a property", () => {
  const unreadable = { toString: () => expect.fail("it can't be read") };
  const wrong: unknown[] = [undefined, null, "", "text", "7", 7, 10n, Number.NaN, true, [], {}, () => {}, class {}];
  wrong.push(Symbol("text"), [Symbol("text")], Object.create(null), unreadable, new Date(0), new Map(), document.body);
  const properties = ["endpoint", "publishableKey", "cart", "lang", "headers", "transport", "messages", "disabled"];

  for (const name of properties)
    it(`with any value keeps the tag usable, and can be set right: ${name}`, async () => {
      for (const value of wrong)
        for (const isNew of [true, false]) {
          const element = new GiftcardPay();
          const right = { endpoint, cart: (await makeCart()).id, lang: "en", transport: undefined, disabled: false };
          Object.assign(element, right, isNew && { [name]: value });
          document.body.append(element);
          await element.updateComplete;
          Object.assign(element, { [name]: value });
          await element.updateComplete;
          expect(element.renderRoot.textContent, Object.prototype.toString.call(value)).to.match(/number|nummer/i);
          Object.assign(element, { headers: {}, messages: {}, publishableKey: "pk", ...right });
          await element.refresh();
          await element.updateComplete;
          expect(element.summary?.totalCents, Object.prototype.toString.call(value)).to.equal(7498);
          element.remove();
        }
    });

  it("messages: undefined or null texts are left out, also for a new tag", async () => {
    const element = new GiftcardPay();
    const messages = { use: undefined, cancel: null, pin: 7, errors: null, apply: "Take {amount}" };
    Object.assign(element, { endpoint, lang: "en", messages, cart: (await makeCart()).id });
    document.body.append(element);
    await oneEvent(element, "giftcard-total");
    await element.updateComplete;
    const root = element.shadowRoot as ShadowRoot;
    expect(plain(root.textContent ?? ""))
      .to.contain("PIN")
      .and.to.contain("Use card");
    element.remove();
  });

  it("headers: may be an object of Headers", async () => {
    const cart = await makeCart();
    const widget = await show(cart);
    widget.element.headers = new Headers({ "x-shop": "7" });
    Object.assign(widget.element, { endpoint: new URL(endpoint, location.href) });
    await widget.check(rich);
    expect((await cart.calls()).at(-1)?.headers["x-shop"]).to.equal("7");
  });
});

describe("a page with hostile styles", () => {
  const hostile = `
    html { font-size: 62.5%; }
    body { font-size: 16px; }
    * { letter-spacing: 3px; word-spacing: 9px; line-height: 1; margin: 7px; padding: 3px; box-sizing: content-box; }
    *, ::before, ::after { border: 0 solid; white-space: nowrap; text-transform: uppercase; text-indent: 40px;
      text-align: center; word-break: break-all; direction: rtl; }
    input, button, label, p, ul, fieldset { all: unset; font-size: 8px; }`;

  for (const [name, css] of Object.entries({
    "a small root": "html { font-size: 62.5% } body { font-size: 16px }",
    "a large root": "html { font-size: 24px } body { font-size: 16px }",
    "text that doesn't wrap": "body { white-space: pre; letter-spacing: 3px; word-spacing: 9px; text-indent: 30px }",
    "vertical, centred capitals":
      "section { writing-mode: vertical-rl; text-align: center; text-transform: uppercase }",
    "rules for every element": hostile,
    "a huge root": "html { font-size: 40px } body { font-size: 16px }",
    "right-to-left text": "body { direction: rtl; text-align-last: justify; hyphens: auto; line-break: anywhere }",
    "no selection": "* { user-select: none; -webkit-user-select: none; box-sizing: content-box !important }",
    "resets of every property": "* { all: revert } giftcard-pay { all: unset }",
    "wide, low controls": "button, input, fieldset { width: 100% !important; height: 20px !important; float: left }",
    "Tailwind's preflight": `*, ::after, ::before { box-sizing: border-box; border: 0 solid; margin: 0; padding: 0 }
      html { line-height: 1.5; tab-size: 4 } ol, ul { list-style: none } svg { display: block; vertical-align: middle }
      button, input { font: inherit; letter-spacing: inherit; color: inherit; border-radius: 0; background: #0000 }`,
    "Bootstrap's reboot": `*, ::before, ::after { box-sizing: border-box } p, dl { margin-bottom: 1rem } label { display: inline-block }
      legend { float: left; width: 100% } dd { margin-bottom: 0.5rem } body { line-height: 1.5; -webkit-text-size-adjust: 100% }`,
    "a WordPress theme": `section * { word-break: break-word; hyphens: auto } body { word-wrap: break-word; line-height: 1.7 }
      input, button { -webkit-appearance: none; padding: 15px 25px; width: 100%; text-transform: uppercase } p { margin: 30px 0 }`,
  }))
    it(`has its own layout in ${name}`, async () => {
      const style = document.createElement("style");
      style.textContent = css;
      const section = await fixture<HTMLElement>(html`<section></section>`);
      section.style.width = section.style.height = "340px";
      const cart = await makeCart();
      const widget = await show(cart);
      section.append(widget.element);
      widget.element.style.width = "340px";
      const measure = () => {
        const base = widget.find(".base") as HTMLElement;
        const size = ({ width, height }: DOMRect) => `${Math.round(width)}x${Math.round(height)}`;
        return [base, widget.number, widget.pin, ...widget.root.querySelectorAll("button")]
          .filter((part) => part.checkVisibility())
          .map((part) => {
            const { direction, textAlign, textAlignLast, textTransform } = getComputedStyle(part);
            const text = [direction, textAlign, textAlignLast, textTransform].join(" ");
            return `${part.id || part.className} ${size(part.getBoundingClientRect())} ${text}`;
          });
      };
      const states = async () => {
        await widget.element.updateComplete;
        const open = measure();
        await widget.check(rich);
        const quoted = measure();
        for (const part of widget.root.querySelectorAll<HTMLElement>("button, input"))
          if (part.checkVisibility()) expect(part.getBoundingClientRect().height).to.be.at.least(44 - 0.01);
        expect((widget.find(".base") as HTMLElement).scrollWidth).to.be.at.most(340);
        expect(widget.text).to.contain("stays on the card");
        widget.element.formResetCallback();
        return [open, quoted];
      };
      const usual = await states();
      document.head.append(style);
      try {
        expect(await states()).to.deep.equal(usual);
        await widget.fill({ number: rich.number });
        expect(widget.number.scrollWidth, "the number isn't cut").to.be.at.most(widget.number.clientWidth + 1);
      } finally {
        style.remove();
      }
    });
});
