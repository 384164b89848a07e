import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openShop, playScenes } from "../../../test/prove/beside/run.js";
import type { MedusaStore } from "../../../test/support/store.js";
import { sharedShop } from "./support/shop.js";

let plain: MedusaStore;
beforeAll(async () => {
  plain = await openShop(inject("postgresUrl"), { isPlain: true });
});
afterAll(() => plain?.stop());

test("a shop without gift cards answers as Medusa does without the plugin", async () => {
  const { medusa: plugin } = await sharedShop("by-line");
  const results = await playScenes({ plain, plugin }, { isShort: true });
  expect(results.flatMap(({ differences }) => differences)).toEqual([]);
  expect(results.length).toBeGreaterThan(5);
});
