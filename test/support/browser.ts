import { type Browser, chromium } from "playwright-core";
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
