import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { readBlock, readBlocks } from "../../../test/support/page-blocks.js";
import { readFeed } from "../src/index.js";

const PAGE = "docs/events.md";

test("the program in the docs writes the feed of its product", async () => {
  const args = ["--input-type=module", "--eval", await readBlock(PAGE, "events.mjs")];
  const printed = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" });
  const { entries, faults } = readFeed(JSON.parse(printed));
  expect(faults).toEqual([]);
  expect(entries.map(({ event: { key, state } }) => [key, state])).toEqual([
    ["prod_1:variant_1", "published"],
    ["prod_1:variant_2", "canceled"],
  ]);
});

test("the feed in the docs can be read", async () => {
  const [block] = (await readBlocks(PAGE)).filter(({ language }) => language === "json");
  const { entries, faults } = readFeed(JSON.parse((block?.text ?? "").replaceAll("https://…", "https://x.example")));
  expect(faults).toEqual([]);
  expect(entries).toHaveLength(1);
});
