import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DrivenBrowser, openDriven, whyMissing } from "../../../scripts/lib/driven-browser.mjs";
import { serveGallery } from "../gallery/serve.mjs";

const missing = whyMissing("WebKit");
if (missing) console.log(`${missing} Its tests are skipped.`);

describe.skipIf(missing)("in WebKit", () => {
  let gallery: Awaited<ReturnType<typeof serveGallery>>;
  let browser: DrivenBrowser;

  beforeAll(async () => {
    gallery = await serveGallery();
    browser = await openDriven("WebKit");
  });

  afterAll(async () => {
    await browser?.close();
    await gallery?.close();
  });

  /** Runs a script in the page, with the tag as `tag` and its shadow root as `root`. */
  const run = (script: string) =>
    browser.run(`const tag = document.querySelector("#live giftcard-pay"); const root = tag?.shadowRoot; ${script}`);
  const text = () => run(`return (root?.querySelector(".base")?.innerText ?? "").replace(/\\s+/g, " ")`);
  const waitFor = (part: string) => expect.poll(text).toContain(part);
  const waitForFocus = (id: string) => expect.poll(() => run("return root?.activeElement?.id")).toBe(id);
  const press = async (...names: string[]) => {
    for (const name of names) await browser.key(name);
  };
  const number = () => run(`return root.querySelector("#number").value`);

  async function applyCard(): Promise<void> {
    await browser.type("6064350000000001234");
    await press("Enter");
    await waitForFocus("pin");
    await browser.type("012345");
    await press("Enter");
    await waitForFocus("apply");
    await press("Enter");
    await waitFor("−€50.00");
    await waitForFocus("add");
  }

  it("checks, applies and removes a card, masks the PIN, and reloads the cart after Back", async () => {
    await browser.goto(`${gallery.url}?lang=en&only=none`);
    await waitFor("Use card");
    for (let tabs = 0; tabs < 20 && (await run("return root.activeElement?.id")) !== "number"; tabs++)
      await press("Tab");
    await browser.type("6064359");
    // Delete backwards with the caret just after the gap.
    await press("ArrowLeft", "ArrowLeft", "ArrowLeft", "Backspace");
    await expect.poll(number).toBe("6063 59");
    await expect.poll(() => run('return root.querySelector("#number").selectionStart')).toBe(3);
    await press("Control+a", "Backspace");
    expect(await run('return getComputedStyle(root.querySelector("#pin")).webkitTextSecurity')).toBe("disc");
    await applyCard();
    expect(await run('return tag.matches(":state(applied)")')).toBe(true);
    await press("Shift+Tab", "Enter");
    await waitForFocus("number");
    await applyCard();
    // The card is removed while the shopper is on another page.
    await run(`await fetch("/shop/carts/" + tag.cart, { method: "POST", body: '{"applied":[]}' })`);
    await browser.goto(`${gallery.url}themes.css`);
    await browser.back();
    await waitFor("Use card");
    expect(await text()).not.toContain("−€50.00");
  }, 120_000);
});
