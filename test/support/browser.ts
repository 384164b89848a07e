import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findBrowser } from "../../scripts/lib/find-browser.mjs";

/** Starts a real Chromium: the system's, or the one installed by npm. */
export async function launchBrowser(): Promise<Browser> {
  const { path, args, env } = await findBrowser();
  return chromium.launch({
    executablePath: path,
    args,
    env: { ...(process.env as Record<string, string>), ...env },
  });
}

/** Long enough for a slow, busy machine, so that only a hang times out. */
const PAGE_TIMEOUT_MS = 90_000;

/** Opens a page in a new browser context, which shares no cookies with other pages. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: "en-IE", ...options });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  return context.newPage();
}
