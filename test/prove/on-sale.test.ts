import { expect, inject, test } from "vitest";
import { type OnSaleOptions, runOnSale } from "./on-sale/run.js";

const sell = (options: Partial<OnSaleOptions>) =>
  runOnSale({
    ...{
      lock: "postgres",
      processes: 2,
      hasWorker: true,
      seats: 2,
      buyers: 6,
      bankMs: 300,
      isHostile: false,
      isPlain: false,
    },
    // A slow machine answers late; a buyer here is more patient than on a page.
    ...{ patienceMs: 300_000 },
    ...{ postgresUrl: inject("postgresUrl"), say: () => {} },
    ...options,
  });

test("a process sells every seat once, and every other buyer is told that the show is sold out", async () => {
  const { wrong, orders, reserved, ends } = await sell({ lock: "memory", processes: 1, hasWorker: false });
  expect(wrong).toEqual([]);
  // Medusa may fail in two steps at once, and leave an order that recovery cancels. Its seat may be sold again.
  const { order = 0, canceled = 0, "sold out": soldOut = 0 } = ends;
  expect([order, reserved, order + canceled + soldOut]).toEqual([orders, orders, 6]);
  expect(orders).toBeGreaterThanOrEqual(2 - canceled);
  expect(orders).toBeLessThanOrEqual(2);
}, 600_000);

test("no cent is lost if processes are killed during an on-sale", { tags: "long", timeout: 900_000 }, async () => {
  const { wrong, orders } = await sell({ seats: 30, buyers: 90, isHostile: true });
  expect(wrong).toEqual([]);
  expect(orders).toBeLessThanOrEqual(30);
});

test("without a common lock, two processes sell no seat twice", { tags: "long", timeout: 900_000 }, async () => {
  const { wrong, orders } = await sell({ lock: "memory", seats: 20, buyers: 60 });
  // Two completions that take the last seat at once may both fail.
  expect(wrong.filter((what) => !what.startsWith("only "))).toEqual([]);
  expect(orders).toBeLessThanOrEqual(20);
});
