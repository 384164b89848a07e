// @module-tag long
import { expect, inject, test } from "vitest";
import { runBulkRefund } from "./bulk-refund/run.js";

/** A short run of `npm run prove -- bulk-refund`. */
test("a bulk refund refunds each order once, although Medusa is killed and the service is often down", async () => {
  const { orders, kills, wrong } = await runBulkRefund({
    ...{ orders: 8, kills: 1, postgresUrl: inject("postgresUrl") },
  });
  expect(wrong).toEqual([]);
  expect(orders).toBe(8);
  expect(kills).toBeGreaterThan(0);
}, 900_000);
