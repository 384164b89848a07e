// @module-tag long
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { decorateCartTotals } from "@medusajs/framework/utils";
import { createHook, createWorkflow, WorkflowResponse } from "@medusajs/framework/workflows-sdk";
import { beforeAll, expect, inject, it } from "vitest";
import { createStoreDatabase, runMedusa } from "../scripts/shops/medusa-store.mjs";

/** Each scenario's result, by the scenario's name. */
let results: Record<string, unknown>;

beforeAll(async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-medusa-faults-"));
  try {
    const file = path.join(folder, "results.json");
    await runMedusa(["exec", "scenarios.js"], {
      databaseUrl: await createStoreDatabase(inject("postgresUrl")),
      appDir: path.join(import.meta.dirname, "medusa-faults"),
      env: { TEST_RESULTS: file },
    });
    results = JSON.parse(await readFile(file, "utf8"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 480_000);

/** Shown if Medusa behaves differently. */
const advice = 'see "When Medusa changes" in docs/medusa-faults.md';

it.each([
  ["ten buyers at once take the whole database pool", "fullPool", { oneShow: 0, page: false, manyShows: 0 }],
  ["nobody gets the expired lock of a dead process", "expiredLock", { early: 500, late: 500 }],
  ["a lock's timeout is an unknown error", "lockTimeout", { status: 500 }],
  ["two carts with the same two items lock both for good", "twoShowsInMemory", { statuses: [500, 500], later: 500 }],
  [
    "reservations at once exceed the stock, and their count is lost",
    "reservationsAtOnce",
    { isOversold: true, isCountLost: true },
  ],
  ["two lines reserve the last unit", "twoLinesOfOneItem", { made: 1, reserved: 2 }],
  ["a sold-out cart creates an order", "soldOut", { hasError: true, ordersCreated: 1 }],
  ["an edit voids the authorized payment", "editsOfAuthorizedOrder", { total: 160, authorized: [], toCollect: [160] }],
  [
    "a refused refund is booked, and a second one is not",
    "refunds",
    { refused: { refunded: [], booked: [-120] }, twice: { refunded: [10, 10], booked: [-10] } },
  ],
  [
    "an order is canceled although its payment is not",
    "refusedCancel",
    { order: "canceled", isPaymentCanceled: false, hasError: false },
  ],
  [
    "an order is placed although only one of its two sessions is authorized",
    "twoOpenSessions",
    { total: 120, authorized: [60] },
  ],
])("%s", (_, scenario, expected) => expect(results[scenario], advice).toEqual(expected));

it("a total has fractions of a cent", () => {
  const item = { unit_price: 19.95, quantity: 1, is_tax_inclusive: false, tax_lines: [{ rate: 9 }] };
  expect(Number(decorateCartTotals({ items: [item], shipping_methods: [] } as never).total), advice).toBe(21.7455);
});

it("a hook accepts only one handler", () => {
  const workflow = createWorkflow("medusa-faults-one-handler", () => {
    return new WorkflowResponse(undefined, { hooks: [createHook("validate", {})] as const });
  });
  const { validate } = workflow.hooks;
  validate(() => {});
  expect(() => validate(() => {}), advice).toThrow("Cannot define multiple hook handlers");
});
