import { expect, inject, test } from "vitest";
import { runShowRefund } from "./show-refund/run.js";

/** The short form of `npm run show-refund`. */
test("a show's refund that is killed again and again, with the service away half of the time, is made once", async () => {
  const { orders, kills, wrong } = await runShowRefund({
    ...{ orders: 15, kills: 4, postgresUrl: inject("postgresUrl") },
  });
  expect(wrong).toEqual([]);
  expect(orders).toBe(15);
  expect(kills).toBeGreaterThan(1);
}, 900_000);
