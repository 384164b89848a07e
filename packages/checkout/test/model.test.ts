import { expect, inject, it } from "vitest";
import type { MethodName } from "./model/other-method.js";
import { modelReport } from "./model/report.js";
import { runModel } from "./model/run.js";

/** The same number on every machine. `npm run prove -- model` runs thousands. */
const SEQUENCES = 80;

const runs = async (method: MethodName, seed: number, sequences: number) => {
  const result = await runModel({ postgresUrl: inject("postgresUrl"), method, seed, sequences, atOnce: 4 });
  expect(result.violations, modelReport(result)).toBe(0);
  expect(result.sequences).toBeGreaterThanOrEqual(sequences);
};

for (const method of ["stripe", "stripe-page", "mollie"] as const) {
  const title = `the books are exact with ${method}, which fails, lies and is late`;
  it(title, { tags: "long", timeout: 1_200_000 }, () => runs(method, 1, SEQUENCES));
  it(`${title}, for long`, { tags: "long", timeout: 1_200_000 }, () => runs(method, 2, SEQUENCES * 5));
}
