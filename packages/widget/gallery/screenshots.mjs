/**
 * Takes screenshots of every state: light, dark, narrow, at twice the font size, right to left, and in each theme.
 * `node packages/widget/gallery/screenshots.mjs [folder]`
 */
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { findBrowser } from "../../../scripts/find-browser.mjs";
import { serveGallery } from "./serve.mjs";

const root = path.join(import.meta.dirname, "..", "..", "..");
const { chromium } = createRequire(path.join(root, "scripts", "package.json"))("playwright-core");
const folder = path.resolve(
  process.argv[2] ?? path.join(root, "node_modules", ".cache", "giftcard-pay", "screenshots"),
);

const shots = {
  light: { query: "theme=plain", width: 1500 },
  dark: { query: "theme=dark", width: 1500 },
  narrow: { query: "theme=plain&lang=de", width: 320 },
  "twice-the-size": { query: "theme=plain&lang=fr", width: 320, css: ":root { font-size: 200% }" },
  "right-to-left": { query: "theme=plain&dir=rtl&lang=nl", width: 1500 },
  checkout: { query: "theme=checkout&lang=fr", width: 1500 },
  dense: { query: "theme=dense&lang=nl", width: 1500 },
  forced: { query: "theme=plain", width: 1500, forcedColors: "active" },
};

const found = await findBrowser();
const gallery = await serveGallery();
const browser = await chromium.launch({
  executablePath: found.path,
  args: found.args,
  env: { ...process.env, ...found.env },
});
try {
  await mkdir(folder, { recursive: true });
  for (const [name, { query, width, forcedColors, css }] of Object.entries(shots)) {
    const page = await browser.newPage({
      viewport: { width, height: 900 },
      ...(forcedColors && { forcedColors }),
    });
    page.on("pageerror", (error) => {
      process.exitCode = 1;
      console.error(`${name}: ${error.message}`);
    });
    await page.goto(`${gallery.url}?${query}`);
    await page.locator("html[data-ready]").waitFor({ timeout: 60_000 });
    if (css) await page.addStyleTag({ content: css });
    await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
    await page.close();
    console.log(path.join(folder, `${name}.png`));
  }
} finally {
  await browser.close();
  await gallery.close();
}
// The simulated shop still has a slow response pending, which would keep the process alive.
process.exit();
