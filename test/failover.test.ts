import { expect, test } from "vitest";
import { runFailover } from "./failover/run.js";

const TIMEOUT_MS = 480_000;

test(
  "a primary that is killed, and one that falls silent: all that was answered stands, and the books are exact",
  async () => {
    const { differences, ...counts } = await runFailover({
      faults: ["killed", "silent"],
      restsBetween: true,
    });
    expect(differences).toEqual([]);
    // Else nothing was tried.
    expect(counts.unknown).toBeGreaterThan(0);
    expect(counts.sales).toBeGreaterThan(800);
  },
  TIMEOUT_MS,
);
