import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DrivenBrowser, engines, whyMissing } from "../../../scripts/lib/driven-browser.mjs";
import { serveGallery } from "../gallery/serve.mjs";
import { findFailures, loadCheckers, openView, type ViewName, views } from "../gallery/tour.mjs";

let gallery: Awaited<ReturnType<typeof serveGallery>>;

beforeAll(async () => {
  gallery = await serveGallery();
});

afterAll(() => gallery?.close());

/** Opens a view, and closes its browser after the body. */
async function inView(
  [engine, name, only]: [(typeof engines)[number], ViewName, string?],
  body: (browser: DrivenBrowser) => Promise<void>,
): Promise<void> {
  const browser = await openView(gallery.url, engine, name, only);
  try {
    await loadCheckers(browser);
    await body(browser);
  } finally {
    await browser.close();
  }
}

for (const engine of engines) {
  const missing = whyMissing(engine);
  if (missing) console.log(`${missing} Its tests are skipped.`);
  // The short run has one view, by touch, in Chromium.
  const tags = (name: string) => (engine === "Chromium" && name === "narrow" ? [] : ["long"]);

  describe.skipIf(missing)(`the gallery in ${engine}`, () => {
    it("two accessibility checkers find a missing label inside a shadow root", { tags: tags("narrow") }, () =>
      inView([engine, "light", "Empty"], async (browser) => {
        expect(await findFailures(browser)).toEqual([]);
        await browser.run(`document.querySelector(".state giftcard-pay").shadowRoot.querySelector("label").remove()`);
        const found = (await findFailures(browser)).join();
        expect(found).toContain("axe label");
        expect(found).toContain("IBM input_label");
      }),
    );

    // WebKit has no forced colours.
    const names = (Object.keys(views) as ViewName[]).filter((name) => engine !== "WebKit" || name !== "forced-colours");
    for (const name of names)
      it(`every state of the view "${name}" is reached by keys or touch, and passes`, { tags: tags(name) }, () =>
        inView([engine, name], async (browser) => {
          expect(await findFailures(browser)).toEqual([]);
          const overflow = await browser.run("return document.documentElement.scrollWidth - innerWidth");
          expect(overflow).toBeLessThanOrEqual(0);
        }),
      );
  });
}
