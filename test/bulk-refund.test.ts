import { expect, inject, test } from "vitest";
import { runBulkRefund } from "./bulk-refund/run.js";

/** The short form of `npm run bulk-refund`. */
test("a show's refund that is killed again and again, with the service away half of the time, is made once", async () => {
  const { orders, kills, wrong } = await runBulkRefund({
    ...{ orders: 8, kills: 2, postgresUrl: inject("postgresUrl") },
  });
  expect(wrong).toEqual([]);
  expect(orders).toBe(8);
  expect(kills).toBeGreaterThan(0);
}, 900_000);
