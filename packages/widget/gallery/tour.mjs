/** Opens the gallery in a browser, and reaches every state by keys or touch. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { openDriven } from "../../../scripts/lib/driven-browser.mjs";

/**
 * A view of the gallery.
 * @typedef {object} View
 * @property {Record<string, string>} query of the gallery's URL
 * @property {import("../../../scripts/lib/driven-browser.mjs").Settings} [settings]
 */

const narrow = { settings: { width: 320 } };

/** The views that are tested. The narrow ones are operated by touch, as on a phone. */
export const views = /** @satisfies {Record<string, View>} */ ({
  light: { query: { theme: "plain" } },
  dark: { query: { theme: "dark" }, settings: { dark: true } },
  checkout: { query: { theme: "checkout", lang: "fr" } },
  dense: { query: { theme: "dense", lang: "nl" } },
  "forced-colours": { query: { theme: "plain" }, settings: { forcedColors: true } },
  "reduced-motion": { query: { theme: "plain" }, settings: { reducedMotion: true } },
  "right-to-left": { query: { theme: "plain", dir: "rtl", lang: "nl" } },
  hostile: { query: { theme: "hostile" } },
  narrow: { query: { theme: "plain", lang: "de", by: "touch" }, ...narrow },
  "twice-the-size": { query: { theme: "plain", lang: "fr", size: "200%", by: "touch" }, ...narrow },
});

/** @typedef {keyof typeof views} ViewName */

/**
 * Opens a view of the gallery, and reaches every state.
 * @param {string} url the gallery's
 * @param {import("../../../scripts/lib/driven-browser.mjs").Engine} engine
 * @param {ViewName} name
 * @param {string} [only] the beginning of the titles of the states to show; all by default
 * @returns {Promise<import("../../../scripts/lib/driven-browser.mjs").DrivenBrowser>} to be closed by the caller
 */
export async function openView(url, engine, name, only) {
  /** @type {View} */
  const { query, settings = {} } = views[name];
  const browser = await openDriven(engine, { width: 1500, ...settings });
  try {
    const isByTouch = query.by === "touch" && browser.touch;
    const search = new URLSearchParams({ lang: "en", ...query, by: isByTouch ? "touch" : "keys" });
    if (only) search.set("only", only);
    // WebKitGTK's window has a least width.
    if (settings.width) search.set("width", `${settings.width}px`);
    await browser.goto(`${url}?${search}`);
    await operate(browser);
    await browser.run(`while (!document.documentElement.dataset.ready) await new Promise(requestAnimationFrame)`);
    return browser;
  } catch (error) {
    await browser.close();
    throw error;
  }
}

/** Does what the gallery asks for. @param {import("../../../scripts/lib/driven-browser.mjs").DrivenBrowser} browser */
async function operate(browser) {
  for (let isDone = false; ; isDone = true) {
    const action = await browser.run(
      `while (!globalThis.nextAction) await new Promise(requestAnimationFrame);
      return nextAction(arguments[0]);`,
      isDone,
    );
    if (!action) return;
    const [name, ...given] = action;
    await browser[/** @type {"type" | "key" | "touch"} */ (name)]?.(.../** @type {[any, any]} */ (given));
  }
}

const require = createRequire(import.meta.url);

/** Loads two accessibility checkers into the page: axe, and IBM's, which has other rules. */
export async function loadCheckers({ run }) {
  for (const file of ["axe-core/axe.min.js", "accessibility-checker-engine/ace.js"]) {
    const source = await readFile(require.resolve(file), "utf8");
    await run(
      `const script = document.createElement("script");
      script.textContent = arguments[0];
      document.head.append(script);`,
      source,
    );
  }
}

/**
 * Returns the definite failures of WCAG 2.2 A and AA that the two checkers find in every state, without those that a person
 * must judge.
 * @param {import("../../../scripts/lib/driven-browser.mjs").DrivenBrowser} browser
 * @returns {Promise<string[]>}
 */
export const findFailures = ({ run }) =>
  run(`
    const { violations } = await axe.run("#states");
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => "axe " + id + ": " + html + failureSummary));
    const checker = new ace.Checker();
    for (const state of document.querySelectorAll(".state")) {
      const { results } = await checker.check(state, ["WCAG_2_2"]);
      for (const { ruleId, value: [kind, outcome], message, snippet } of results)
        if (kind === "VIOLATION" && outcome === "FAIL")
          found.push("IBM " + ruleId + ": " + state.firstElementChild.textContent + ": " + message + " " + snippet);
    }
    return found;`);
