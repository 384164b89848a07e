import { copyFile, mkdir, stat } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";

const root = path.resolve(import.meta.dirname, "../..");

/**
 * Takes a picture of the page and keeps it as `docs/<name>.png`. The one that is there stays, unless
 * UPDATE_SCREENSHOTS is set.
 *
 * @throws when the picture is too small to show anything
 */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = path.join(root, "node_modules", ".cache", "giftcard-pay");
  const taken = path.join(folder, `${name}.png`);
  const kept = path.join(root, "docs", `${name}.png`);
  await mkdir(folder, { recursive: true });
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: taken, fullPage: true, animations: "disabled" });
  const { size } = await stat(taken);
  if (size <= 20_000) throw new Error(`The picture of ${name} has ${size} bytes only.`);
  const isThere = await stat(kept).then(
    () => true,
    () => false,
  );
  if (!isThere || process.env.UPDATE_SCREENSHOTS) await copyFile(taken, kept);
}
