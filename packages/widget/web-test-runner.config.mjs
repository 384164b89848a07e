import { fileURLToPath } from "node:url";
import { esbuildPlugin } from "@web/dev-server-esbuild";
import { chromeLauncher } from "@web/test-runner";
import { findFirefox, whyMissing } from "../../scripts/lib/driven-browser.mjs";
import { findBrowser } from "../../scripts/lib/find-browser.mjs";
import { serverPage } from "./test/shop/server-page.mjs";
import { shop } from "./test/shop/shop.mjs";
import { webkitLauncher } from "./test/shop/webkit-launcher.mjs";

const chrome = await findBrowser();
const isShort = Boolean(process.env.GIFTCARD_TEST_SHORT);
const engines = isShort ? [] : /** @type {const} */ (["Firefox", "WebKit"]);
for (const reason of engines.map(whyMissing).filter(Boolean)) console.log(`${reason} Its tests are skipped.`);
const firefox = isShort ? undefined : findFirefox();
const webkit = isShort || whyMissing("WebKit") ? undefined : webkitLauncher();

/** The files that only `npm test -- all` runs: every language, zoom, way of typing and older server. */
const long = ["access", "groups", "language", "older"];

const sessions = new WeakMap();

/** Gives tests in Chromium access to the DevTools protocol, for emulated media and the accessibility tree. */
const devtools = {
  name: "devtools-command",
  async executeCommand({ command, payload, session }) {
    if (command !== "devtools") return undefined;
    const page = session.browser.getPage(session.id);
    // Emulation ends with the session that started it, so the session is kept.
    sessions.set(page, sessions.get(page) ?? (await page.createCDPSession()));
    return sessions.get(page).send(payload.method, payload.params);
  },
};

/** Lets tests touch the page. */
const touch = {
  name: "touch-command",
  async executeCommand({ command, payload, session }) {
    if (command !== "touch") return undefined;
    const page = session.browser.getPage(session.id);
    await page.bringToFront();
    await page.touchscreen.tap(payload.x, payload.y);
    return true;
  },
};

export default {
  rootDir: fileURLToPath(new URL("../..", import.meta.url)),
  files: ["test/*.browser.ts", ...(isShort ? long.map((name) => `!test/${name}.browser.ts`) : [])],
  concurrency: 1,
  nodeResolve: { exportConditions: ["development"] },
  plugins: [
    esbuildPlugin({ ts: true, tsconfig: fileURLToPath(new URL("tsconfig.json", import.meta.url)) }),
    devtools,
    touch,
  ],
  middleware: [serverPage, shop],
  browsers: [
    chromeLauncher({
      launchOptions: {
        executablePath: chrome.path,
        args: chrome.args,
        env: { ...process.env, ...chrome.env },
      },
    }),
    ...(firefox
      ? [
          Object.assign(
            chromeLauncher({
              launchOptions: { browser: "firefox", executablePath: firefox },
              async createPage({ context }) {
                const page = await context.newPage();
                // Firefox ESR does not support every call behind this. Its window is large enough anyway.
                page.setViewport = async () => {};
                return page;
              },
            }),
            { name: "Firefox" },
          ),
        ]
      : []),
    ...(webkit ? [webkit] : []),
  ],
  // Hide Lit's note that this is its development build, and an accessibility checker's note about colours that it can't
  // read. The other checker reads them.
  filterBrowserLogs: ({ args }) =>
    !args.some((text) => /lit\.dev\/msg\/dev-mode|unable to get color combo/.test(String(text))),
  // Generous, for slow machines: tests wait for conditions, so these end only a test that hangs.
  browserStartTimeout: 300_000,
  testsStartTimeout: 300_000,
  testsFinishTimeout: 900_000,
  testFramework: { config: { timeout: 120_000 } },
};
