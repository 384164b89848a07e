import { openDriven } from "../../../../scripts/lib/driven-browser.mjs";

/**
 * Runs test files in WebKitGTK, one after another, each in a browser of its own: a key that hangs ends only its file.
 * Tests operate its page as they do puppeteer's, with the keyboard alone.
 * @returns {import("@web/test-runner-core").BrowserLauncher}
 */
export function webkitLauncher() {
  /** @type {import("../../../../scripts/lib/driven-browser.mjs").DrivenBrowser | undefined} */
  let browser;
  let active = "";
  /** The modifier that is held. The driver forgets it between two calls. */
  let modifier = "";
  const keyboard = {
    type: (text) => browser.type(text),
    press: (name) => browser.key(modifier + name),
    down: async (name) => (/^(Control|Shift)$/.test(name) ? (modifier = `${name}+`) : browser.hold(name, true)),
    up: async (name) => (modifier ? (modifier = "") : browser.hold(name, false)),
  };
  return {
    name: "WebKit",
    type: "puppeteer",
    concurrency: 1,
    getPage: () => ({ keyboard }),
    async startSession(id, url) {
      browser = await openDriven("WebKit");
      active = id;
      await browser.goto(url);
    },
    isActive: (id) => id === active,
    getBrowserUrl: () => browser.run("return location.href"),
    async stopSession() {
      active = modifier = "";
      await browser.close();
      return {};
    },
    startDebugSession: () => Promise.reject(new Error("WebKit can't be debugged here.")),
  };
}
