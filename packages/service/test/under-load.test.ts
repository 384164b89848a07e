// @module-tag long

import { expect, test } from "vitest";
import { compareBooks } from "../../../scripts/prove/soak/books.mjs";
import { modelRun } from "../../../scripts/prove/soak/model.mjs";
import { soak } from "../../../scripts/prove/soak/run.mjs";
import { testDatabase } from "../../../test/support/test-database.js";

const SOAK_MS = 8000;
const STEPS = 1000;
/** Most of this time is for a slow machine that restarts killed processes and the database. */
const TIMEOUT_MS = 240_000;

test("random calls get true answers while processes and the database are killed, and the ledger stays exact", {
  tags: "long",
  timeout: TIMEOUT_MS,
}, async () => {
  let missed = 0;
  const done = await soak({
    durationMs: SOAK_MS,
    // Proves that the comparison can fail: it must report the answered devalues that are left out here.
    afterwards: async ({ pool, keys, calls }) => {
      const kept = calls.filter(({ kind, key, status }) => kind !== "devalue" || key !== undefined || status !== 200);
      missed = (await compareBooks({ pool, keys, calls: kept })).length;
    },
  });
  expect(done.differences).toEqual([]);
  // The numbers depend on the machine, but each kind of call must occur.
  expect(done.devalues).toBeGreaterThan(5);
  expect(done.reversals).toBeGreaterThan(0);
  expect(done.processKills).toBeGreaterThan(0);
  expect(done.databaseKills).toBe(1);
  expect(missed).toBeGreaterThan(0);
});

test(
  "random sequences of operations answer as a simple model does",
  async () => {
    const seen = await modelRun({ databaseUrl: await testDatabase(), steps: STEPS });
    for (const kind of ["devalued", "reversed", "replayed", "400", "404", "409", "422"]) {
      expect([kind, (seen[kind] ?? 0) > 0]).toEqual([kind, true]);
    }
  },
  TIMEOUT_MS,
);
