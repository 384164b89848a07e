import { expect, inject, test } from "vitest";
import { runVendurePeople } from "../../../test/prove/vendure-people/run.js";

test("rounds of random shoppers and staff break no promise", { tags: "long", timeout: 900_000 }, async () => {
  const { rounds } = await runVendurePeople({ seed: 42, rounds: 3, postgresUrl: inject("postgresUrl") });
  const bad = rounds.filter(({ wrong }) => wrong.length > 0);
  for (const { seed, story } of bad) console.log(`seed ${seed}\n${story}`);
  expect(bad.flatMap(({ seed, wrong }) => wrong.map((what) => `seed ${seed}: ${what}`))).toEqual([]);
  expect(rounds).toHaveLength(3);
});
