/** Browsers that a program operates as a person does, by keys and touch: Chromium, Firefox and WebKitGTK. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { findBrowser } from "./find-browser.mjs";
import { freePort } from "./process.mjs";

export const engines = /** @type {const} */ (["Chromium", "Firefox", "WebKit"]);

/** @typedef {(typeof engines)[number]} Engine */

/**
 * The settings of a browser that a page can see.
 * @typedef {object} Settings
 * @property {number} [width] of the page, in pixels
 * @property {number} [height]
 * @property {boolean} [dark]
 * @property {boolean} [forcedColors] WebKit has none
 * @property {boolean} [reducedMotion]
 */

/**
 * A browser with one page.
 * @typedef {object} DrivenBrowser
 * @property {(url: string) => Promise<unknown>} goto
 * @property {(script: string, ...args: unknown[]) => Promise<any>} run runs the body of a function in the page
 * @property {(text: string) => Promise<unknown>} type types into the focused field, key by key
 * @property {(name: string) => Promise<unknown>} key presses a key, such as `Enter` or `Shift+Tab`
 * @property {(name: string, isDown: boolean) => Promise<unknown>} [hold] presses a key without releasing it, or releases it. Only WebKit's
 * @property {() => Promise<unknown>} back returns to the page before
 * @property {(x: number, y: number) => Promise<unknown>} [touch] touches a point of the viewport. WebKitGTK has no touch
 * @property {() => Promise<Buffer>} screenshot of the whole page, as PNG
 * @property {() => Promise<unknown>} close
 */

/**
 * Says why an engine can't be driven on this machine; undefined if it can. The tests do not need Firefox and WebKit.
 * @param {Engine} engine
 */
export function whyMissing(engine) {
  if (engine === "Firefox" && !findFirefox()) return "Firefox is not installed. FIREFOX_PATH can name one.";
  if (engine === "WebKit" && !webKitPrograms.every(findProgram))
    return "WebKitWebDriver and Xvfb are not installed. On Debian: webkit2gtk-driver and xvfb.";
  return undefined;
}

/**
 * Starts a browser.
 * @param {Engine} engine
 * @param {Settings} [settings]
 * @returns {Promise<DrivenBrowser>}
 */
export const openDriven = (engine, settings = {}) =>
  ({ Chromium: openChromium, Firefox: openFirefox, WebKit: openWebKit })[engine](settings);

/** Returns FIREFOX_PATH or an installed Firefox. @throws if FIREFOX_PATH is wrong */
export function findFirefox() {
  const { FIREFOX_PATH } = process.env;
  if (FIREFOX_PATH && !isProgram(FIREFOX_PATH))
    throw new Error(`FIREFOX_PATH is ${FIREFOX_PATH}, which is not an executable file.`);
  return FIREFOX_PATH ?? findProgram("firefox-esr") ?? findProgram("firefox");
}

/** The driver of WebKitGTK, and a virtual display for it. */
const webKitPrograms = ["WebKitWebDriver", "Xvfb"];

/** The height of the virtual display, in pixels. */
const MAX_HEIGHT = 12_000;

/** @param {string} name */
function findProgram(name) {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Writes a call of a function with this body, as an expression. @param {string} body @param {unknown[]} args */
const callOf = (body, args) => `(async function () { ${body} }).apply(null, ${JSON.stringify(args)})`;

/** @param {Settings} settings @returns {Promise<DrivenBrowser>} */
async function openChromium({ width = 1280, height = 900, dark, forcedColors, reducedMotion }) {
  const { path: executablePath, args, env } = await findBrowser();
  const browser = await chromium.launch({ executablePath, args, env: { ...process.env, ...env } });
  const page = await browser.newPage({
    viewport: { width, height },
    hasTouch: true,
    locale: "en-IE",
    colorScheme: dark ? "dark" : "light",
    forcedColors: forcedColors ? "active" : "none",
    reducedMotion: reducedMotion ? "reduce" : "no-preference",
  });
  return {
    goto: (url) => page.goto(url),
    back: () => page.goBack(),
    run: (script, ...given) => page.evaluate(callOf(script, given)),
    type: (text) => page.keyboard.type(text),
    key: (name) => page.keyboard.press(name),
    touch: (x, y) => page.touchscreen.tap(x, y),
    screenshot: () => page.screenshot({ fullPage: true }),
    close: () => browser.close(),
  };
}

/** @param {Settings} settings @returns {Promise<DrivenBrowser>} */
async function openFirefox({ width = 1280, height = 900, dark, forcedColors, reducedMotion }) {
  // It comes with the tests' runner.
  const require = createRequire(new URL("../../packages/widget/package.json", import.meta.url));
  const { default: puppeteer } = await import(
    createRequire(require.resolve("@web/test-runner")).resolve("puppeteer-core")
  );
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: findFirefox(),
    extraPrefsFirefox: {
      "intl.accept_languages": "en-IE",
      "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1,
      "ui.systemUsesDarkTheme": dark ? 1 : 0,
      "browser.display.document_color_use": forcedColors ? 2 : 0,
      "ui.prefersReducedMotion": reducedMotion ? 1 : 0,
    },
  });
  const page = await browser.newPage();
  // Firefox ESR lacks the command for the orientation, which follows the one for the size.
  await page.setViewport({ width, height }).catch(() => undefined);
  return {
    goto: (url) => page.goto(url),
    back: () => page.goBack(),
    run: (script, ...given) => page.evaluate(callOf(script, given)),
    type: (text) => page.keyboard.type(text),
    async key(name) {
      const [key = name, ...modifiers] = name.split("+").reverse();
      for (const modifier of modifiers) await page.keyboard.down(modifier);
      await page.keyboard.press(key);
      for (const modifier of modifiers) await page.keyboard.up(modifier);
    },
    touch: (x, y) => page.touchscreen.tap(x, y),
    screenshot: async () => Buffer.from(await page.screenshot({ fullPage: true })),
    close: () => browser.close(),
  };
}

/** WebDriver's codes of keys. @type {Record<string, string>} */
const keyCodes = {
  ...{ Enter: "\uE007", Tab: "\uE004", Shift: "\uE008", Control: "\uE009", Escape: "\uE00C", Backspace: "\uE003" },
  ...{ Delete: "\uE017", ArrowLeft: "\uE012", ArrowRight: "\uE014", Home: "\uE011", End: "\uE010" },
};

/**
 * Starts WebKitGTK's driver on a virtual display.
 * @param {Settings} settings
 * @returns {Promise<DrivenBrowser>}
 */
async function openWebKit({ width = 1280, height = 900, dark, reducedMotion }) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-webkit-"));
  await mkdir(path.join(folder, "gtk-3.0"));
  const settings = `[Settings]\ngtk-enable-animations=${reducedMotion ? 0 : 1}\n`;
  await writeFile(path.join(folder, "gtk-3.0", "settings.ini"), settings);
  const screen = spawn("Xvfb", ["-displayfd", "1", "-screen", "0", `1600x${MAX_HEIGHT}x24`, "-nolisten", "tcp"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [display] = await once(/** @type {import("node:stream").Readable} */ (screen.stdout), "data");
  const port = await freePort();
  const driver = spawn("WebKitWebDriver", [`--port=${port}`], {
    stdio: "ignore",
    env: {
      ...process.env,
      DISPLAY: `:${String(display).trim()}`,
      GDK_BACKEND: "x11",
      GTK_THEME: dark ? "Adwaita:dark" : "Adwaita",
      XDG_CONFIG_HOME: folder,
    },
  });
  const close = async () => {
    for (const child of [driver, screen]) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const session = await openSession(`http://127.0.0.1:${port}`);
    await session("POST", "/window/rect", { x: 0, y: 0, width, height });
    return {
      ...webKitPage(session, { x: 0, y: 0, width, height }),
      async close() {
        await session("DELETE", "").catch(() => undefined);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @typedef {(method: string, at: string, body?: object) => Promise<any>} WebDriverSession */

/** @param {string} url the driver's @returns {Promise<WebDriverSession>} */
async function openSession(url) {
  /** @type {WebDriverSession} */
  const call = async (method, at, body = {}) => {
    const answer = await fetch(url + at, { method, ...(method === "POST" && { body: JSON.stringify(body) }) });
    const { value } = /** @type {{ value: any }} */ (await answer.json());
    if (!answer.ok) throw new Error(`${at}: ${value.error} ${value.message}`);
    return value;
  };
  for (let tries = 0; ; tries++) {
    const isUp = await call("GET", "/status").then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (tries > 600) throw new Error("WebKitWebDriver does not answer.");
    await sleep(100);
  }
  const { sessionId } = await call("POST", "/session", { capabilities: {} });
  return (method, at, body) => call(method, `/session/${sessionId}${at}`, body);
}

/**
 * @param {WebDriverSession} session
 * @param {{ x: number, y: number, width: number, height: number }} place the window's
 * @returns {Omit<DrivenBrowser, "close">}
 */
function webKitPage(session, place) {
  /** @param {string} script @param {...unknown} given */
  const run = (script, ...given) =>
    session("POST", "/execute/sync", { script: `return ${callOf(script, given)}`, args: [] });
  /** @param {object[]} actions of the keyboard */
  const act = async (actions) => {
    for (let tries = 0; ; tries++) {
      try {
        return await session("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
      } catch (error) {
        // On a busy machine, the driver may still wait for the page's answer to the key before.
        if (tries > 100 || !String(error).includes("still underway")) throw error;
        await sleep(100);
      }
    }
  };
  /** @param {string[]} keys pressed together */
  const strike = (keys) => {
    const down = keys.map((value) => ({ type: "keyDown", value }));
    const up = keys.toReversed().map((value) => ({ type: "keyUp", value }));
    return act([...down, ...up]);
  };
  return {
    goto: (url) => session("POST", "/url", { url }),
    back: () => session("POST", "/back"),
    run,
    type: (text) => act([...text].flatMap((value) => ["keyDown", "keyUp"].map((type) => ({ type, value })))),
    key: (name) => strike(name.split("+").map((part) => keyCodes[part] ?? part)),
    hold: (name, isDown) => act([{ type: isDown ? "keyDown" : "keyUp", value: keyCodes[name] ?? name }]),
    async screenshot() {
      // The driver's picture ends with the window.
      const height = Math.min(MAX_HEIGHT, (await run("return document.documentElement.scrollHeight")) + 100);
      await session("POST", "/window/rect", { ...place, height });
      const picture = Buffer.from(await session("GET", "/screenshot"), "base64");
      await session("POST", "/window/rect", place);
      return picture;
    },
  };
}
