import { expect, test } from "vitest";
import { runFailover } from "./failover/run.js";

const TIMEOUT_MS = 480_000;

test("no answered sale is lost if a primary is killed or stops answering and its standby takes over", {
  tags: "long",
  timeout: TIMEOUT_MS,
}, async () => {
  const { differences, ...counts } = await runFailover({
    faults: ["killed", "silent"],
    restsBetween: true,
  });
  expect(differences).toEqual([]);
  // Without these, the failures were not noticed at all.
  expect(counts.unknown).toBeGreaterThan(0);
  expect(counts.sales).toBeGreaterThan(800);
});
