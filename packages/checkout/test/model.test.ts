import { expect, inject, it } from "vitest";
import { modelReport } from "./model/report.js";
import { runModel } from "./model/run.js";

/** The same number on every machine. `npm run model` runs thousands. */
const SEQUENCES = 200;

for (const [name, seed] of Object.entries({ "the first": 1, "the second": 2 })) {
  it(`the books are exact after concurrent calls of people, banks and crashes (${name} seed, ${seed})`, {
    tags: seed > 1 ? "long" : [],
    timeout: 1_200_000,
  }, async () => {
    const result = await runModel({
      postgresUrl: inject("postgresUrl"),
      seed,
      sequences: SEQUENCES,
      atOnce: 4,
    });
    expect(result.violations, modelReport(result)).toBe(0);
    expect(result.sequences).toBeGreaterThanOrEqual(SEQUENCES);
  });
}
