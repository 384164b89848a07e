import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findBrowser } from "../../scripts/find-browser.mjs";

/** Starts a real Chromium: the system's, or the one that npm brought. */
export async function launchBrowser(): Promise<Browser> {
  const { path, args, env } = await findBrowser();
  return chromium.launch({
    executablePath: path,
    args,
    env: { ...(process.env as Record<string, string>), ...env },
  });
}

/** Longer than anything takes on a machine that is slow and busy: it only ends what hangs. */
const PAGE_TIMEOUT_MS = 90_000;

/** Opens a page of its own: no cookies of another. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: "en-IE", ...options });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  return context.newPage();
}
