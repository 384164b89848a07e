import { cents } from "@giftcard-pay/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LaidCharge, layCharges, unitsOf } from "../src/engine/charge-layout.js";
import type { OrderLine, Piece } from "../src/store/order-line.js";

const line = (id: string, quantity: number, totalCents: number): OrderLine => ({
  id,
  quantity,
  totalCents: cents(totalCents),
});
const piece = (id: string, unit: number, cents: number): Piece => ({ line: id, unit, cents });
const sum = (cents: readonly number[]) => cents.reduce((total, one) => total + one, 0);
const amounts = (charges: readonly LaidCharge[]) => charges.map(({ amountCents }) => amountCents);
/** Formats the units of each charge. */
const named = (charges: readonly LaidCharge[]) =>
  charges.map(({ pieces }) => pieces.map((one) => one.line + one.unit).join("+"));

/** More charges than pieces. */
const ENOUGH = 10_000;

const orderLines = fc
  .array(fc.tuple(fc.oneof(fc.nat(6), fc.constantFrom(0.5, 2.5)), fc.oneof(fc.nat(30), fc.nat(6000))), {
    minLength: 1,
    maxLength: 5,
  })
  .map((lines) => lines.map(([quantity, totalCents], place) => line(`l${place}`, quantity, totalCents)));

/** Random lines, and parts of cards that are not more than their total. */
const orders = fc.tuple(orderLines, fc.array(fc.nat(5000), { maxLength: 4 })).map(([lines, wanted]) => {
  let leftCents = sum(lines.map(({ totalCents }) => totalCents));
  const partsCents = wanted.map((wantedCents) => {
    const partCents = Math.min(wantedCents, leftCents);
    leftCents -= partCents;
    return partCents;
  });
  return { lines, partsCents };
});

describe("the units of an order", () => {
  it("spread a line's total evenly: any last units are within less than a cent of their share", () => {
    expect(unitsOf([line("a", 3, 1000), line("ship", 1, 495)])).toEqual([
      piece("a", 1, 333),
      piece("a", 2, 334),
      piece("a", 3, 333),
      piece("ship", 1, 495),
    ]);
  });

  it("are one if the quantity isn't a positive whole number", () => {
    for (const quantity of [0.5, 2.5, 0, -2, Number.NaN, Number.POSITIVE_INFINITY])
      expect(unitsOf([line("a", quantity, 999)])).toEqual([piece("a", 1, 999)]);
  });

  it("omit free units", () => {
    expect(unitsOf([line("free", 2, 0), line("a", 3, 2)])).toEqual([piece("a", 1, 1), piece("a", 3, 1)]);
    expect(unitsOf([line("a", 1_000_000_000, 2)])).toHaveLength(2);
  });

  it("add up to the lines, and differ by at most a cent within a line", () => {
    fc.assert(
      fc.property(orderLines, (lines) => {
        for (const one of lines) {
          const cents = unitsOf([one]).map((unit) => unit.cents);
          expect(sum(cents)).toBe(one.totalCents);
          expect(Math.max(0, ...cents) - Math.min(...cents, Math.max(0, ...cents))).toBeLessThanOrEqual(1);
          const each = one.totalCents / cents.length;
          for (const last of cents.keys())
            expect(Math.abs(sum(cents.slice(last)) - each * (cents.length - last))).toBeLessThan(1);
          expect(cents).not.toContain(0);
        }
        expect(unitsOf(lines)).toEqual(lines.flatMap((one) => unitsOf([one])));
      }),
    );
  });

  it("are refused for a total that isn't whole cents", () => {
    for (const totalCents of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => unitsOf([line("a", 1, totalCents)])).toThrow(RangeError);
  });
});

describe("a card's part of an order", () => {
  it("is a charge for each ticket, and the last one uses what is left of the card", () => {
    expect(layCharges([4375], [line("ticket", 2, 5000)], 10)).toEqual([
      [
        { amountCents: 2500, pieces: [piece("ticket", 1, 2500)] },
        { amountCents: 1875, pieces: [piece("ticket", 2, 1875)] },
      ],
    ]);
  });

  it("continues after the previous card, and both pay a piece of the unit in between", () => {
    const lines = [line("ticket", 3, 6000), line("ship", 1, 500)];
    const [first, second, third, ...more] = layCharges([3000, 500, 2600], lines, 10);
    expect(first?.map(({ pieces }) => pieces)).toEqual([[piece("ticket", 1, 2000)], [piece("ticket", 2, 1000)]]);
    expect(second?.map(({ pieces }) => pieces)).toEqual([[piece("ticket", 2, 500)]]);
    expect(third?.map(({ pieces }) => pieces)).toEqual([
      [piece("ticket", 2, 500)],
      [piece("ticket", 3, 2000)],
      [piece("ship", 1, 100)],
    ]);
    expect(more).toEqual([]);
  });

  it("starts with the next unit if the previous card ended with a whole one", () => {
    const [first, second] = layCharges([2500, 2500], [line("ticket", 2, 5000)], 10);
    expect(named(first ?? [])).toEqual(["ticket1"]);
    expect(named(second ?? [])).toEqual(["ticket2"]);
  });

  it("has no charge if it is 0", () => {
    expect(layCharges([0, 100, 0], [line("a", 1, 100)], 1).map(amounts)).toEqual([[], [100], []]);
    expect(layCharges([], [line("a", 1, 100)], 1)).toEqual([]);
  });

  it("joins the last of the largest group of equal amounts, and keeps as many single charges as possible", () => {
    const lines = [line("a", 2, 3000), line("b", 5, 5000)];
    const [charges = []] = layCharges([8000], lines, 5);
    expect(named(charges)).toEqual(["a1", "a2", "b1", "b2", "b3+b4+b5"]);
    expect(amounts(charges)).toEqual([1500, 1500, 1000, 1000, 3000]);
  });

  it("joins all of the largest group of equal amounts, then the next one, if that isn't enough", () => {
    const lines = [line("a", 3, 3000), line("b", 4, 2000), line("c", 1, 300)];
    expect(named(layCharges([5300], lines, 5)[0] ?? [])).toEqual(["a1", "a2", "a3", "b1+b2+b3+b4", "c1"]);
    expect(named(layCharges([5300], lines, 4)[0] ?? [])).toEqual(["a1", "a2+a3", "b1+b2+b3+b4", "c1"]);
    expect(named(layCharges([5300], lines, 3)[0] ?? [])).toEqual(["a1+a2+a3", "b1+b2+b3+b4", "c1"]);
  });

  it("joins the last charges if no equal amounts are left", () => {
    const lines = [line("a", 3, 3000), line("b", 4, 2000), line("c", 1, 300)];
    expect(named(layCharges([5300], lines, 2)[0] ?? [])).toEqual(["a1+a2+a3", "b1+b2+b3+b4+c1"]);
    expect(named(layCharges([5300], lines, 1)[0] ?? [])).toEqual(["a1+a2+a3+b1+b2+b3+b4+c1"]);
  });

  it("keeps pieces in the order of their units, even if joined ones are between others", () => {
    const lines = ["a", "b", "c", "d", "e"].map((id, place) => line(id, 1, place % 2 === 0 ? 100 : 200 + place));
    expect(named(layCharges([704], lines, 3)[0] ?? [])).toEqual(["a1+c1+e1", "b1", "d1"]);
    expect(named(layCharges([704], lines, 2)[0] ?? [])).toEqual(["a1+c1+e1", "b1+d1"]);
    const others = [line("x", 1, 50), ...lines];
    expect(named(layCharges([754], others, 3)[0] ?? [])).toEqual(["x1", "a1+c1+e1", "b1+d1"]);
    expect(named(layCharges([754], others, 2)[0] ?? [])).toEqual(["x1", "a1+b1+c1+d1+e1"]);
  });

  it("joins the cheapest of equally large groups", () => {
    const lines = [line("a", 2, 4000), line("b", 2, 200), line("c", 2, 600)];
    expect(named(layCharges([4800], lines, 5)[0] ?? [])).toEqual(["a1", "a2", "b1+b2", "c1", "c2"]);
  });

  it("has a limit for each card", () => {
    const charges = layCharges([300, 300], [line("a", 6, 600)], 2);
    expect(charges.map(named)).toEqual([
      ["a1", "a2+a3"],
      ["a4", "a5+a6"],
    ]);
  });

  it("is refused if the parts are more than the lines", () => {
    expect(() => layCharges([60, 41], [line("a", 1, 100)], 5)).toThrow(RangeError);
    expect(() => layCharges([1], [], 5)).toThrow(RangeError);
    expect(layCharges([60, 40], [line("a", 1, 100)], 5).map(amounts)).toEqual([[60], [40]]);
  });

  it("is refused if numbers are invalid, or two lines have the same id", () => {
    const lines = [line("a", 1, 100)];
    for (const partCents of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => layCharges([partCents], lines, 5)).toThrow(RangeError);
    for (const maxCharges of [0, -1, 1.5, Number.NaN])
      expect(() => layCharges([50], lines, maxCharges)).toThrow(RangeError);
    expect(() => layCharges([50], [...lines, ...lines], 5)).toThrow(RangeError);
  });
});

describe("for random orders and cards", () => {
  it("each card's charges add up to its part, and each unit is paid once, starting with the first", () => {
    fc.assert(
      fc.property(orders, fc.integer({ min: 1, max: 12 }), ({ lines, partsCents }, maxCharges) => {
        const cards = layCharges(partsCents, lines, maxCharges);
        expect(cards.map((charges) => sum(amounts(charges)))).toEqual(partsCents);
        for (const { amountCents, pieces } of cards.flat()) {
          expect(pieces.length).toBeGreaterThan(0);
          expect(sum(pieces.map(({ cents }) => cents))).toBe(amountCents);
        }
        expect(centsByUnit(cards)).toEqual(paidByPosition(lines, partsCents));
        expect(layCharges(partsCents, lines, maxCharges)).toEqual(cards);
      }),
      { numRuns: 2000 },
    );
  });

  it("there are as many charges as allowed, in the order of the units", () => {
    fc.assert(
      fc.property(orders, fc.integer({ min: 1, max: 12 }), ({ lines, partsCents }, maxCharges) => {
        const single = layCharges(partsCents, lines, ENOUGH);
        for (const [card, charges] of layCharges(partsCents, lines, maxCharges).entries()) {
          const pieces = single[card]?.flatMap((charge) => charge.pieces) ?? [];
          expect(charges.length).toBe(Math.min(maxCharges, pieces.length));
          const place = (one: Piece) => pieces.findIndex((p) => p.line === one.line && p.unit === one.unit);
          const places = charges.map((charge) => charge.pieces.map(place));
          for (const own of places) expect(own).toEqual(own.toSorted((a, b) => a - b));
          const firsts = places.map(([first]) => first ?? -1);
          expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("only pieces of equal amounts are joined if that is enough, and as few as possible", () => {
    fc.assert(
      fc.property(orders, fc.integer({ min: 1, max: 12 }), ({ lines, partsCents }, maxCharges) => {
        const single = layCharges(partsCents, lines, ENOUGH);
        for (const [card, charges] of layCharges(partsCents, lines, maxCharges).entries()) {
          const all = amounts(single[card] ?? []);
          const kinds = new Set(all);
          if (kinds.size > maxCharges) continue;
          const excess = Math.max(0, all.length - maxCharges);
          const largest = Math.max(0, ...[...kinds].map((cents) => all.filter((one) => one === cents).length));
          const joined = charges.filter(({ pieces }) => pieces.length > 1);
          for (const { pieces } of joined) expect(new Set(pieces.map(({ cents }) => cents)).size).toBe(1);
          if (excess < largest) expect(joined.map(({ pieces }) => pieces.length)).toEqual(excess ? [excess + 1] : []);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

/** Returns what each card pays of each unit, by its charges. */
function centsByUnit(cards: readonly (readonly LaidCharge[])[]): Map<string, number>[] {
  return cards.map(
    (charges) =>
      new Map(charges.flatMap(({ pieces }) => pieces.map((one) => [`${one.line} ${one.unit}`, one.cents] as const))),
  );
}

/** Returns the same by the positions of cards and units on a line of cents. */
function paidByPosition(lines: readonly OrderLine[], partsCents: readonly number[]): Map<string, number>[] {
  let lineEnd = 0;
  const strip = lines.flatMap(({ id, quantity, totalCents }) => {
    const count = Number.isInteger(quantity) && quantity > 0 ? quantity : 1;
    const lineStart = lineEnd;
    lineEnd += totalCents;
    const end = (unit: number) => lineStart + Math.round((totalCents * unit) / count);
    return Array.from({ length: count }, (_, place) => ({
      ...{ key: `${id} ${place + 1}`, start: end(place), end: end(place + 1) },
    }));
  });
  let cardEnd = 0;
  return partsCents.map((partCents) => {
    const cardStart = cardEnd;
    cardEnd += partCents;
    const overlaps = strip.map(
      ({ key, start, end }) => [key, Math.min(end, cardEnd) - Math.max(start, cardStart)] as const,
    );
    return new Map(overlaps.filter(([, cents]) => cents > 0));
  });
}
