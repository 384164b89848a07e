import { expect, makeCart, rich, show } from "./shop/page.js";

const standalone = (copy: string) =>
  import(new URL(`../dist/giftcard-pay.standalone.js?${copy}`, import.meta.url).href);

/** Runs the body without a browser feature that older browsers lack, then restores it. */
async function without(from: object, name: string, body: () => Promise<void>): Promise<void> {
  const { [name]: own = {} } = Object.getOwnPropertyDescriptors(from);
  Reflect.deleteProperty(from, name);
  try {
    await body();
  } finally {
    Object.defineProperty(from, name, own);
  }
}

async function hintsOf(body: () => Promise<unknown>): Promise<string[]> {
  const hints: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => hints.push(text);
  try {
    await body();
  } finally {
    console.warn = warn;
  }
  return hints;
}

describe("in an older browser", () => {
  for (const [from, name] of [
    [AbortSignal, "any"],
    [ElementInternals.prototype, "states"],
    [Element.prototype, "checkVisibility"],
  ] as const)
    it(`applies a card without ${name}`, async () => {
      const cart = await makeCart();
      await without(from, name, async () => {
        const widget = await show(cart);
        await widget.enter(rich);
        await widget.until(() => widget.focused === "apply", "the focus is on Apply");
        await widget.press("#apply");
        expect(widget.text).to.contain("−€50.00");
      });
    });

  it("registers nothing and logs a hint if elements can't be part of a form", async () => {
    const hints = await hintsOf(() =>
      without(HTMLElement.prototype, "attachInternals", async () => {
        const { GiftcardPay } = await standalone("old");
        GiftcardPay.define("giftcard-old");
      }),
    );
    expect(customElements.get("giftcard-old")).to.equal(undefined);
    expect(hints).to.contain("giftcard-pay: this browser is too old for the widget.");
  });

  it("logs a hint if another copy has registered the tag", async () => {
    const hints = await hintsOf(() => standalone("copy"));
    expect(hints).to.deep.equal([
      "giftcard-pay: another copy of <giftcard-pay> is already on this page.",
      "giftcard-pay: another copy of <giftcard-balance> is already on this page.",
    ]);
  });
});
