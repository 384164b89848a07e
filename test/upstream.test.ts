// @module-tag long
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { decorateCartTotals } from "@medusajs/framework/utils";
import { createHook, createWorkflow, WorkflowResponse } from "@medusajs/framework/workflows-sdk";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createStoreDatabase, runMedusa } from "../scripts/shops/medusa-store.mjs";
import { checkAlone, listPatches, makePatchedCopies } from "./upstream/patches.js";
import { startRedis } from "./upstream/redis.js";

const appDir = path.join(import.meta.dirname, "upstream/shop");
const redirect = path.join(import.meta.dirname, "upstream/shop/redirect.cjs");
const patches = listPatches();

/** The result of each scenario, by its name. */
type Results = Record<string, unknown>;

let folder: string;
let redis: Awaited<ReturnType<typeof startRedis>>;
let medusa: Results;
let patched: Results;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-upstream-"));
  redis = await startRedis();
  const copies = makePatchedCopies(folder, patches);
  [medusa, patched] = await Promise.all([runScenarios("medusa", {}), runScenarios("patched", copies)]);
}, 480_000);

afterAll(async () => {
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs all scenarios in a shop of their own, in a new process. */
async function runScenarios(name: string, copies: Record<string, string>): Promise<Results> {
  const file = path.join(folder, `${name}.json`);
  await runMedusa(["exec", "scenarios.js"], {
    databaseUrl: await createStoreDatabase(inject("postgresUrl")),
    appDir,
    env: {
      NODE_OPTIONS: `--require=${JSON.stringify(redirect)}`,
      TEST_PATCHED: JSON.stringify(copies),
      TEST_RESULTS: file,
      // Each shop has locks of its own.
      ...(redis && { TEST_REDIS_URL: `${redis.url}/${name === "patched" ? 1 : 0}` }),
    },
  });
  return JSON.parse(await readFile(file, "utf8"));
}

it.each(patches)("$report applies without the other patches", (patch) => checkAlone(patch, folder));

/** Each fault that has a patch: what the scenario returns without and with it. */
const faults: Record<string, { title: string; scenario: string; without: unknown; with: unknown }> = {
  "01": {
    title: "ten buyers at once take the whole database pool",
    scenario: "fullPool",
    without: { oneShow: 0, page: false, manyShows: 0 },
    with: { oneShow: 12, page: true, manyShows: 12 },
  },
  "02": {
    title: "nobody gets the expired lock of a dead process",
    scenario: "expiredLock",
    without: { early: 500, late: 500 },
    with: { early: 500, late: 200 },
  },
  "03": {
    title: "a lock's timeout is an unknown error",
    scenario: "lockTimeout",
    without: { status: 500 },
    with: { status: 409 },
  },
  "04": {
    title: "two carts with the same two items lock both for good",
    scenario: "twoShowsInMemory",
    without: { statuses: [500, 500], later: 500 },
    with: { statuses: [200, 200], later: 200 },
  },
  "06": {
    title: "reservations at once exceed the stock, and their count is lost",
    scenario: "reservationsAtOnce",
    without: { isOversold: true, isCountLost: true },
    with: { isOversold: false, isCountLost: false },
  },
  "07": {
    title: "two lines reserve the last unit",
    scenario: "twoLinesOfOneItem",
    without: { made: 1, reserved: 2 },
    with: { made: 0, reserved: 0 },
  },
  "08": {
    title: "a sold-out cart creates an order",
    scenario: "soldOut",
    without: { hasError: true, ordersCreated: 1 },
    with: { hasError: true, ordersCreated: 0 },
  },
  "09": {
    title: "an edit voids the authorized payment",
    scenario: "editsOfAuthorizedOrder",
    without: { total: 160, authorized: [], toCollect: [160] },
    with: { total: 160, authorized: [120], toCollect: [40] },
  },
  "10": {
    title: "a refused refund is booked, and a second one is not",
    scenario: "refunds",
    without: {
      refused: { refunded: [], booked: [-120] },
      twice: { refunded: [10, 10], booked: [-10] },
    },
    with: {
      refused: { refunded: [], booked: [] },
      twice: { refunded: [10, 10], booked: [-10, -10] },
    },
  },
  "11": {
    title: "an order is canceled although its payment is not",
    scenario: "refusedCancel",
    without: { order: "canceled", isPaymentCanceled: false, hasError: false },
    with: { order: "pending", isPaymentCanceled: false, hasError: true },
  },
};

/** Shown if Medusa, or a patch, behaves differently. */
const advice = 'see "When Medusa changes" in docs/upstream/README.md';

describe.each(Object.entries(faults))("%s", (_, { title, scenario, ...expected }) => {
  it(`without the patch, ${title}`, () => expect(medusa[scenario], advice).toEqual(expected.without));
  it(`with the patch, it doesn't happen that ${title}`, () => expect(patched[scenario], advice).toEqual(expected.with));
});

it("05: without the patch, a timeout leaves a Redis lock that nobody uses", ({ skip }) => {
  if (!redis) skip("no Redis or Valkey is installed");
  expect([medusa.twoShowsInRedis, patched.twoShowsInRedis]).toEqual([
    { gaveUp: 409, later: 409 },
    { gaveUp: 409, later: 200 },
  ]);
});

it("12: an order is placed although only one of its two sessions is authorized", () => {
  expect(medusa.twoOpenSessions).toEqual({ total: 120, authorized: [60] });
});

it("13: a total has fractions of a cent", () => {
  const item = { unit_price: 19.95, quantity: 1, is_tax_inclusive: false, tax_lines: [{ rate: 9 }] };
  expect(Number(decorateCartTotals({ items: [item], shipping_methods: [] } as never).total)).toBe(21.7455);
});

it("14: a hook accepts only one handler", () => {
  const workflow = createWorkflow("upstream-one-handler", () => {
    return new WorkflowResponse(undefined, { hooks: [createHook("validate", {})] as const });
  });
  const { validate } = workflow.hooks;
  validate(() => {});
  expect(() => validate(() => {})).toThrow("Cannot define multiple hook handlers");
});

it("every patch has a test", () => {
  const numbers = patches.map(({ report }) => report.slice(0, 2));
  expect(numbers).toEqual([...Object.keys(faults), "05"].sort());
});
