import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { readBlock, readBlocks } from "../../../test/support/page-blocks.js";
import { feedItemOf } from "../src/index.js";
import { full } from "./shop-events.js";

const PAGE = "docs/events.md";

test("the program in the docs writes the feed of its product", async () => {
  const args = ["--input-type=module", "--eval", await readBlock(PAGE, "events.mjs")];
  const printed = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" });
  expect(JSON.parse(printed).events).toMatchObject([
    { event_id: "prod_1:variant_1", state: "published" },
    { event_id: "prod_1:variant_2", state: "canceled" },
  ]);
});

test("the feed in the docs has the fields of a written one", async () => {
  const [block] = (await readBlocks(PAGE)).filter(({ language }) => language === "json");
  const { events } = JSON.parse(block?.text ?? "");
  expect(events).toHaveLength(1);
  expect(Object.keys(feedItemOf(full))).toEqual(expect.arrayContaining(Object.keys(events[0])));
});
