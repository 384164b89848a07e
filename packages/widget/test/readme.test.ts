import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { press } from "../../../scripts/lib/press.mjs";
import { startNode } from "../../../scripts/lib/process.mjs";
import { launchBrowser, openPage } from "../../../test/support/browser.js";
import { readBlock } from "../../../test/support/page-blocks.js";

const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

it("the README's page and server work as they are", async ({ signal }) => {
  // Inside the package, so that Node finds the imports.
  const cache = path.resolve(import.meta.dirname, "../.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, "readme-"));
  cleanUps.push(() => rm(folder, { recursive: true }));
  for (const file of ["page.html", "try.mjs"])
    await writeFile(path.join(folder, file), await readBlock("packages/widget/README.md", file));
  const server = await startNode({
    name: "try.mjs",
    args: ["try.mjs"],
    cwd: folder,
    env: { PORT: "0" },
    ready: /(http:\S+): card (\S+), PIN (\S+)/,
    signal,
  });
  cleanUps.push(() => server.stop());
  const [, url = "", cardNumber = "", pin = ""] = server.match;
  const browser = await launchBrowser();
  cleanUps.push(() => browser.close());
  const page = await openPage(browser, { viewport: { width: 400, height: 700 } });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(url);
  await page.getByLabel("Gift card number").pressSequentially(cardNumber);
  await page.getByLabel("PIN", { exact: true }).pressSequentially(pin);
  await press(page.getByRole("button", { name: "Use card" }));
  await press(page.getByRole("button", { name: "Apply €50.00" }));
  await page.locator("output").getByText("€ 24.98").waitFor();
  await press(page.getByRole("button", { name: "Place order" }));
  await page.getByText("Here your shop would charge the cards.").waitFor();
  expect(problems).toEqual([]);
});
