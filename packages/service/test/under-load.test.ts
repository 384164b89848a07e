import { expect, test } from "vitest";
import { compareBooks } from "../../../scripts/soak/books.mjs";
import { modelRun } from "../../../scripts/soak/model.mjs";
import { soak } from "../../../scripts/soak/run.mjs";
import { testDatabase } from "../../../test/support/test-database.js";

const SOAK_MS = 8000;
const STEPS = 1000;
/** Of that, a slow machine takes most for starting killed processes and the database again. */
const PATIENCE_MS = 240_000;

test("random calls while processes and the database are killed: each answer is true, and the ledger is exact", {
  tags: "long",
  timeout: PATIENCE_MS,
}, async () => {
  let missed = 0;
  const done = await soak({
    durationMs: SOAK_MS,
    // What was answered and is then not counted must show: this comparison can fail.
    afterwards: async ({ pool, keys, calls }) => {
      const kept = calls.filter(({ kind, key, status }) => kind !== "devalue" || key !== undefined || status !== 200);
      missed = (await compareBooks({ pool, keys, calls: kept })).length;
    },
  });
  expect(done.differences).toEqual([]);
  // How much gets done depends on the machine; that each kind was done does not.
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
  PATIENCE_MS,
);
