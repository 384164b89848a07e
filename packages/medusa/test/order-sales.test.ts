import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type SaleEvent, type SaleHistory, salesOf } from "../src/reports/order-sales.js";
import { type ByRate, difference, inProportion, totalOf, vatCents } from "../src/reports/vat.js";

const START = Date.parse("2026-11-01T12:00:00Z");
const at = (minute: number) => new Date(START + minute * 60_000).toISOString();
const rates = (nineteen: number, seven: number): ByRate =>
  new Map([
    ["19", nineteen],
    ["7", seven],
  ]);

/** An order of 50.00 at 19 % and 20.00 at 7 %, whose content changes at these minutes. */
function stepsOf(events: readonly SaleEvent[], kept: readonly (readonly [number, ByRate])[] = []) {
  const placed = rates(5000, 2000);
  const history: SaleHistory = {
    placedAt: at(0),
    placed,
    keptAt: (time) => kept.findLast(([minute]) => Date.parse(at(minute)) <= Date.parse(time))?.[1] ?? placed,
    events,
  };
  return salesOf(history).map(({ kind, before, after }) => ({
    kind,
    ...Object.fromEntries(difference(after, before)),
  }));
}

const paid = (cents: number, minute = 0): SaleEvent => ({ kind: "paid", at: at(minute), cents });
const change = (minute: number): SaleEvent => ({ kind: "change", at: at(minute) });
const refund = (minute: number, cents: number, more: object = {}): SaleEvent => ({
  ...{ kind: "refund" as const, at: at(minute), cents, aheadCents: 0, isCancel: false },
  ...more,
});
const cancellation = (minute: number): SaleEvent => ({ kind: "cancellation", at: at(minute) });
const sale = { kind: "sale", "19": 5000, "7": 2000 };

describe("the value of an order in the books", () => {
  test("falls when a returned unit is refunded, at the unit's own rate, however many payments refund it", () => {
    const events = [paid(7000), change(1), refund(2, 1500), refund(3, 1000)];
    const steps = stepsOf(events, [[1, rates(2500, 2000)]]);
    expect(steps).toEqual([sale, { kind: "refund", "19": -1500 }, { kind: "refund", "19": -1000 }]);
  });

  test("falls at once if the returned unit was never paid", () => {
    const steps = stepsOf([paid(3000), change(1), paid(1500, 2)], [[1, rates(2500, 2000)]]);
    expect(steps).toEqual([sale, { kind: "change", "19": -2500 }]);
  });

  test("rises with a change that adds units", () => {
    const steps = stepsOf([paid(7000), change(1)], [[1, rates(5000, 3000)]]);
    expect(steps).toEqual([sale, { kind: "change", "7": 1000 }]);
  });

  test("moves from one rate to another with an even exchange", () => {
    const steps = stepsOf([paid(7000), change(1)], [[1, rates(4000, 3000)]]);
    expect(steps).toEqual([sale, { kind: "change", "19": -1000, "7": 1000 }]);
  });

  test("falls at each rate in proportion with a goodwill refund", () => {
    expect(stepsOf([paid(7000), refund(1, 700)])).toEqual([sale, { kind: "refund", "19": -500, "7": -200 }]);
  });

  test("does not fall again for units that were refunded ahead", () => {
    const events = [paid(7000), refund(1, 2500, { aheadCents: 2500 }), change(2), change(3)];
    const steps = stepsOf(events, [
      [2, rates(2500, 2000)],
      [3, rates(3500, 2000)],
    ]);
    expect(steps.map(({ kind }) => kind)).toEqual(["sale", "refund", "change", "change"]);
    expect(steps.slice(1).flatMap(({ kind: _, ...amounts }) => Object.values(amounts))).toContain(1000);
  });

  test("falls to zero with a cancellation, which is not a refund", () => {
    const steps = stepsOf([paid(7000), refund(1, 7000, { isCancel: true }), cancellation(2)]);
    expect(steps).toEqual([sale, { kind: "cancellation", "19": -5000, "7": -2000 }]);
  });

  test("ignores what an earlier attempt paid and was refunded", () => {
    expect(stepsOf([paid(7000, -5), refund(-4, 7000), paid(7000, -1)])).toEqual([sale]);
  });

  test("ends at what the buyer keeps, minus what was refunded beyond it, in any order of events", () => {
    const cents = fc.integer({ min: 0, max: 5000 });
    const event = fc.oneof(
      fc.record({ kind: fc.constant("change" as const), kept: fc.tuple(cents, cents) }),
      fc.record({ kind: fc.constant("refund" as const), cents }),
      fc.record({ kind: fc.constant("paid" as const), cents }),
      fc.record({ kind: fc.constant("cancellation" as const) }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), cents, (given, paidCents) => {
        const kept: [number, ByRate][] = [];
        const events = given.map((one, index): SaleEvent => {
          if (one.kind === "change") kept.push([index + 1, rates(...one.kept)]);
          if (one.kind === "refund") return refund(index + 1, one.cents);
          if (one.kind === "paid") return paid(one.cents, index + 1);
          return { kind: one.kind, at: at(index + 1) };
        });
        const placed = rates(5000, 2000);
        const keptAt = (time: string) =>
          kept.findLast(([minute]) => Date.parse(at(minute)) <= Date.parse(time))?.[1] ?? placed;
        const steps = salesOf({ placedAt: at(0), placed, keptAt, events: [paid(paidCents), ...events] });
        for (const [index, step] of steps.entries())
          expect(difference(step.before, steps[index - 1]?.after ?? new Map()).size).toBe(0);
        for (const { after } of steps) for (const amount of after.values()) expect(Number.isInteger(amount)).toBe(true);
        const isCanceled = given.some(({ kind }) => kind === "cancellation");
        const last = totalOf(steps.at(-1)?.after ?? new Map());
        if (isCanceled) expect(last).toBe(0);
        else if (!given.some(({ kind }) => kind === "refund"))
          expect(last).toBeGreaterThanOrEqual(totalOf(keptAt(at(99))));
      }),
    );
  });
});

describe("VAT", () => {
  test("is taken out of the gross amount, and rounded half a cent away from zero", () => {
    expect([vatCents(11_900, "19"), vatCents(-11_900, "19"), vatCents(100, "0"), vatCents(2246, "9")]).toEqual([
      ...[1900, -1900, 0, 185],
    ]);
    expect(vatCents(1055, "5.5")).toBe(55);
  });

  test("of a sale and of its refunds adds up to zero, in any parts", () => {
    const parts = fc.array(fc.integer({ min: 1, max: 9999 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(parts, fc.constantFrom("19", "7", "9", "21", "5.5"), (cents, rate) => {
        let left = cents.reduce((sum, one) => sum + one, 0);
        let vat = vatCents(left, rate);
        for (const one of cents) {
          vat += vatCents(left - one, rate) - vatCents(left, rate);
          left -= one;
        }
        expect(vat).toBe(0);
      }),
    );
  });

  test("shares add up to the total", () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 99_999 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(amounts, fc.integer({ min: -99_999, max: 99_999 }), (cents, total) => {
        const byRate = new Map(cents.map((one, index) => [String(index), one]));
        expect(totalOf(inProportion(byRate, total))).toBe(total);
      }),
    );
  });
});
