import { expect, inject, test } from "vitest";
import { runPeople } from "./people/run-people.js";

/**
 * The seed of a round with many kinds of steps, in a shop that charges by line. The round has no webhooks, because
 * their timing against page requests differs in each run. `npm run prove -- people` takes its seed from the clock.
 */
const FIXED = [52];

test("a round of random shoppers and admins breaks no promise", async () => {
  const { rounds, carts } = await runPeople({
    ...{ seed: FIXED[0] ?? 1, firstSeeds: FIXED, rounds: FIXED.length, workers: 1, shrinkTries: 0 },
    postgresUrl: inject("postgresUrl"),
  });
  const bad = rounds.filter(({ violations }) => violations.length > 0);
  for (const { seed, story } of bad) console.log(`seed ${seed}\n${story}`);
  expect(bad.flatMap(({ seed, violations }) => violations.map(({ kind }) => `seed ${seed}: ${kind}`))).toEqual([]);
  expect(carts).toBe(4 * FIXED.length);
}, 1_800_000);
