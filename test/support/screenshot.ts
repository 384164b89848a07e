import { copyFile, mkdir, stat } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";

const root = path.resolve(import.meta.dirname, "../..");

/**
 * Takes a screenshot of the page and saves it as `docs/<name>.png`. An existing file is replaced only if
 * UPDATE_SCREENSHOTS is set.
 *
 * @throws if the file is so small that the page must be blank
 */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = path.join(root, "node_modules", ".cache", "giftcard-pay");
  const taken = path.join(folder, `${name}.png`);
  const kept = path.join(root, "docs", `${name}.png`);
  await mkdir(folder, { recursive: true });
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: taken, fullPage: true, animations: "disabled" });
  const { size } = await stat(taken);
  if (size <= 20_000) throw new Error(`The screenshot of ${name} has only ${size} bytes.`);
  const isThere = await stat(kept).then(
    () => true,
    () => false,
  );
  if (!isThere || process.env.UPDATE_SCREENSHOTS) await copyFile(taken, kept);
}
