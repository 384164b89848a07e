import { makeCart } from "../gallery/shop-client.js";
import { type State, states } from "../gallery/states.js";
import type { GiftcardPay } from "../src/define.js";
import { definiteFindings, load } from "./shop/ibm-checker.js";
import { endpoint, expect } from "./shop/page.js";

const themes = ["plain", "dark", "checkout", "dense"];

/** Shows a state of the gallery. */
async function showState(state: State): Promise<HTMLElement> {
  const main = document.createElement("main");
  const cart = await makeCart(state.cart);
  const tag = document.createElement(state.tag ?? "giftcard-pay");
  Object.assign(tag, { endpoint, headers: { "x-cart": cart }, ...(!state.tag && { cart }) });
  main.append(tag);
  document.body.append(main);
  await tag.updateComplete;
  if (!state.tag && !state.isLoading) await (tag as GiftcardPay).refresh();
  await state.act?.(tag, cart);
  await tag.updateComplete;
  return main;
}

describe("two accessibility checkers", () => {
  const { documentElement: root } = document;

  before(async () => {
    const sheet = document.createElement("link");
    Object.assign(sheet, { rel: "stylesheet", href: new URL("../gallery/themes.css", import.meta.url) });
    const loaded = new Promise((resolve) => sheet.addEventListener("load", resolve, { once: true }));
    document.head.append(sheet);
    root.lang = "en";
    document.title = "A shop";
    await Promise.all([loaded, load()]);
  });

  afterEach(() => {
    root.className = "";
    document.querySelector("main")?.remove();
  });

  it("find a missing label inside a shadow root", async () => {
    const main = await showState(states[0] as State);
    main.firstElementChild?.shadowRoot?.querySelector("label")?.remove();
    const ofAxe = await expect(main)
      .to.be.accessible()
      .then(() => "", String);
    expect(ofAxe).to.contain("label");
    expect((await definiteFindings(main)).join()).to.contain("input_label");
  });

  for (const theme of themes)
    it(`find no definite failure in any state of the theme "${theme}"`, async () => {
      root.className = `theme-${theme}`;
      for (const state of states) {
        const main = await showState(state);
        await expect(main).to.be.accessible();
        expect(await definiteFindings(main), state.title).to.deep.equal([]);
        main.remove();
      }
    });
});
