import { access, constants } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { esbuildPlugin } from "@web/dev-server-esbuild";
import { chromeLauncher } from "@web/test-runner";
import { findBrowser } from "../../scripts/find-browser.mjs";
import { serverPage } from "./test/shop/server-page.mjs";
import { shop } from "./test/shop/shop.mjs";

const chrome = await findBrowser();
const firefox = await findFirefox();
if (!firefox) console.log("Firefox: none on this machine, so it is skipped. FIREFOX_PATH names one.");

/** FIREFOX_PATH, or what is installed. Nothing here needs one. */
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
    if (FIREFOX_PATH) throw new Error(`FIREFOX_PATH names ${file}, which is no program.`);
  }
  return undefined;
}

const sessions = new WeakMap();

/** Lets a test in Chromium speak to the browser itself: what media it pretends, what its accessibility tree holds. */
const devtools = {
  name: "devtools-command",
  async executeCommand({ command, payload, session }) {
    if (command !== "devtools") return undefined;
    const page = session.browser.getPage(session.id);
    // What is pretended lasts as long as the session that asked for it.
    sessions.set(page, sessions.get(page) ?? (await page.createCDPSession()));
    return sessions.get(page).send(payload.method, payload.params);
  },
};

export default {
  rootDir: fileURLToPath(new URL("../..", import.meta.url)),
  files: ["test/*.browser.ts"],
  concurrency: 1,
  nodeResolve: { exportConditions: ["development"] },
  plugins: [
    esbuildPlugin({ ts: true, tsconfig: fileURLToPath(new URL("tsconfig.json", import.meta.url)) }),
    devtools,
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
                // Firefox ESR doesn't know all that setting a size asks of it; its window is large enough.
                page.setViewport = async () => {};
                return page;
              },
            }),
            { name: "Firefox" },
          ),
        ]
      : []),
  ],
  // That Lit's is the development build, which warns of misuse, isn't news; nor is which colours one of the two checkers
  // of accessibility can't read, and leaves to the other.
  filterBrowserLogs: ({ args }) =>
    !args.some((text) => /lit\.dev\/msg\/dev-mode|unable to get color combo/.test(String(text))),
  // For a slow or busy machine: tests wait for what they expect, so these end only what hangs.
  browserStartTimeout: 300_000,
  testsStartTimeout: 300_000,
  testsFinishTimeout: 900_000,
  testFramework: { config: { timeout: 120_000 } },
};
