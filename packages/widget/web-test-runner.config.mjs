import { access, constants } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { esbuildPlugin } from "@web/dev-server-esbuild";
import { chromeLauncher } from "@web/test-runner";
import { findBrowser } from "../../scripts/find-browser.mjs";
import { serverPage } from "./test/shop/server-page.mjs";
import { shop } from "./test/shop/shop.mjs";

const chrome = await findBrowser();
const isShort = Boolean(process.env.GIFTCARD_TEST_SHORT);
const firefox = isShort ? undefined : await findFirefox();
if (!isShort && !firefox) console.log("Firefox is not installed, so its tests are skipped. FIREFOX_PATH can name one.");

/** Returns FIREFOX_PATH or an installed Firefox. The tests do not need one. */
async function findFirefox() {
  const { FIREFOX_PATH, PATH = "" } = process.env;
  const installed = PATH.split(path.delimiter).flatMap((folder) =>
    ["firefox-esr", "firefox"].map((name) => path.join(folder, name)),
  );
  for (const file of FIREFOX_PATH ? [FIREFOX_PATH] : installed) {
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return file;
    if (FIREFOX_PATH) throw new Error(`FIREFOX_PATH is ${file}, which is not an executable file.`);
  }
  return undefined;
}

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

export default {
  rootDir: fileURLToPath(new URL("../..", import.meta.url)),
  files: ["test/*.browser.ts"],
  concurrency: 1,
  nodeResolve: { exportConditions: ["development"] },
  plugins: [esbuildPlugin({ ts: true, tsconfig: fileURLToPath(new URL("tsconfig.json", import.meta.url)) }), devtools],
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
