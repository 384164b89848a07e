import { expect, inject, test } from "vitest";
import { type OnSaleOptions, runOnSale } from "./on-sale/run.js";

const sell = (options: Partial<OnSaleOptions>) =>
  runOnSale({
    ...{ lock: "postgres", processes: 2, seats: 3, buyers: 9, bankMs: 300, isHostile: false, isPlain: false },
    // A slow machine answers late; a buyer here is more patient than on a page.
    ...{ patienceMs: 300_000 },
    ...{ postgresUrl: inject("postgresUrl"), say: () => {} },
    ...options,
  });

test("two processes sell every seat once, and every other buyer is told that the show is sold out", async () => {
  const { wrong, orders, reserved, ends } = await sell({});
  expect(wrong).toEqual([]);
  expect({ orders, reserved, ends }).toEqual({ orders: 3, reserved: 3, ends: { order: 3, "sold out": 6 } });
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
