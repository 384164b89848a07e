import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retryDelayMs } from "../src/engine/charge-recovery.js";
import { createLateWrites, retryUntilWritten } from "../src/engine/late-writes.js";
import type { Charge, Move } from "../src/store/index.js";

const failure = new Error("the store is away");

describe("a change that the store could not take", () => {
  /** Makes a store that can be down, and keeps the changes that it got. */
  function newStore() {
    const written: [string, Move][] = [];
    const failures: unknown[] = [];
    const store = { away: new Set<string>() };
    const late = createLateWrites(
      async (reference, move) => {
        if (store.away.has(reference)) throw failure;
        written.push([reference, move]);
        return {} as Charge;
      },
      (heard) => failures.push(heard),
    );
    return { ...store, late, written, failures };
  }
  const move: Move = { from: ["sent"], to: "reversed", reason: "not_written" };

  it("is written once, and then removed from the queue", async () => {
    const { late, written } = newStore();
    late.add("gc_1", move);
    await late.flush();
    await late.flush();
    expect(written).toEqual([["gc_1", move]]);
  });

  it("stays queued and is reported while it can't be written, and doesn't stop others", async () => {
    const { late, written, failures, away } = newStore();
    away.add("gc_1");
    late.add("gc_1", move);
    late.add("gc_2", move);
    await late.flush();
    expect(written).toEqual([["gc_2", move]]);
    await late.flush();
    expect(failures).toEqual([failure, failure]);
    away.clear();
    await late.flush();
    expect(written).toEqual([
      ["gc_2", move],
      ["gc_1", move],
    ]);
  });
});

describe("a write that fails", () => {
  it("is retried with increasing delays until it succeeds", async () => {
    const tries: number[] = [];
    const answer = await retryUntilWritten(async () => {
      tries.push(performance.now());
      if (tries.length < 4) throw failure;
      return "written";
    });
    expect(answer).toBe("written");
    const waits = tries.slice(1).map((time, i) => time - Number(tries[i]));
    // Timers may be slightly early by this clock.
    expect(waits.map((ms, i) => ms >= Number([45, 195, 795][i]))).toEqual([true, true, true]);
  });

  it("throws its error after the fourth attempt", async () => {
    let tries = 0;
    const failing = retryUntilWritten(async () => {
      tries += 1;
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(tries).toBe(4);
  });
});

describe("the delay before recovery's next attempt", () => {
  const LONGEST_MS = 3_600_000;

  it("doubles from five seconds to an hour, with at least half of that", () => {
    fc.assert(
      fc.property(fc.nat(2000), (tries) => {
        const wholeMs = Math.min(5000 * 2 ** tries, LONGEST_MS);
        const waitMs = retryDelayMs(tries);
        expect(Number.isSafeInteger(waitMs)).toBe(true);
        expect(waitMs).toBeGreaterThanOrEqual(wholeMs / 2);
        expect(waitMs).toBeLessThanOrEqual(wholeMs);
      }),
      { numRuns: 500 },
    );
  });

  it("has jitter over the other half", () => {
    const waits = Array.from({ length: 500 }, () => retryDelayMs(30));
    expect(Math.min(...waits)).toBeLessThan(0.6 * LONGEST_MS);
    expect(Math.max(...waits)).toBeGreaterThan(0.9 * LONGEST_MS);
  });
});
