import { cents } from "@giftcard-pay/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layCharges } from "../src/engine/charge-layout.js";
import {
  type OpenCharge,
  planRefund,
  type RefundPlan,
  type RefundSplit,
  type RefundWish,
  returnedUnits,
  valueOfUnits,
} from "../src/engine/refund-plan.js";
import type { OrderLine, Piece } from "../src/store/order-line.js";
import type { RefundRule } from "../src/store/purchase-store.js";

const line = (id: string, quantity: number, totalCents: number): OrderLine => ({
  id,
  quantity,
  totalCents: cents(totalCents),
});
const sum = (cents: readonly number[]) => cents.reduce((total, one) => total + one, 0);
const centsOf = (charges: readonly { readonly cents: number }[]) => charges.map(({ cents }) => cents);
const units = (of: Record<string, number>) => new Map(Object.entries(of));
const rules: readonly RefundRule[] = ["as-paid", "cards-first", "remainder-first", "in-proportion"];

/** Cards that were charged as a whole. */
const whole = (...cents: number[]): OpenCharge[] =>
  cents.map((each, place) => ({
    reference: `r${place}`,
    lastFour: `000${place}`,
    cents: each,
    pieces: null,
  }));

/** Charges cards for lines. A card's number is its position. */
function laid(partsCents: readonly number[], lines: readonly OrderLine[], maxCharges = 100): OpenCharge[] {
  return layCharges(partsCents, lines, maxCharges).flatMap((charges, card) =>
    charges.map(({ amountCents, pieces }, place) => ({
      ...{ reference: `${card}-${place}`, lastFour: `${card}`, cents: amountCents, pieces },
    })),
  );
}

/** Returns the split of a plan as numbers. */
const inShort = ({ amountCents, charges, remainderCents }: RefundSplit) => [
  amountCents,
  centsOf(charges),
  remainderCents,
];

function possible(plan: RefundPlan): RefundSplit {
  if (!plan.isPossible) throw new Error("It isn't possible.");
  return plan.split;
}

function nearest(plan: RefundPlan): readonly RefundSplit[] {
  if (plan.isPossible) throw new Error("It is possible.");
  return plan.nearest;
}

const refund = (wish: RefundWish) => inShort(possible(planRefund(wish)));
const nearestTo = (wish: RefundWish) => nearest(planRefund(wish)).map(inShort);

describe("a refund of returned units", () => {
  const tickets = [line("ticket", 2, 5000)];

  it("is split the way they were paid: one of two tickets of 25.00, with 43.75 paid by card", () => {
    const charges = laid([4375], tickets);
    expect(centsOf(charges)).toEqual([2500, 1875]);
    const first = {
      amountCents: 2500,
      charges,
      remainderCents: 625,
      lines: tickets,
      returned: units({ ticket: 1 }),
    };
    expect(refund(first)).toEqual([2500, [1875], 625]);
    const reversed = charges.slice(1);
    const second = { ...first, charges: charges.slice(0, 1), reversed, remainderCents: 0 };
    expect(refund({ ...second, returned: units({ ticket: 2 }) })).toEqual([2500, [2500], 0]);
  });

  it("goes to the card that paid them, even if another card has the same amount", () => {
    const lines = [line("ticket", 1, 2000), line("book", 1, 2000)];
    const charges = laid([2000, 2000], lines);
    const wish = { amountCents: 2000, charges, remainderCents: 0, lines };
    expect(possible(planRefund({ ...wish, returned: units({ ticket: 1 }) })).charges).toEqual([charges[0]]);
    expect(possible(planRefund({ ...wish, returned: units({ book: 1 }) })).charges).toEqual([charges[1]]);
  });

  it("doesn't include shipping, which is returned last", () => {
    const lines = [line("ticket", 2, 4000), line("ship", 1, 500)];
    const charges = laid([4200], lines);
    const wish = { charges, remainderCents: 300, lines, returned: units({ ticket: 2 }) };
    expect(refund({ ...wish, amountCents: 4000 })).toEqual([4000, [2000, 2000], 0]);
    expect(refund({ ...wish, amountCents: 4500 })).toEqual([4500, [2000, 2000, 200], 300]);
  });

  it("never goes to the other method instead of a card: less than a charge is refused", () => {
    const charges = laid([4375], tickets);
    const wish = { charges, remainderCents: 625, lines: tickets };
    expect(nearestTo({ ...wish, amountCents: 1874, returned: units({ ticket: 1 }) })).toEqual([[1875, [1875], 0]]);
    expect(nearestTo({ ...wish, remainderCents: 500, amountCents: 2400, returned: units({ ticket: 2 }) })).toEqual([
      [1875, [1875], 0],
      [2500, [2500], 0],
    ]);
    const cups = [line("a", 15, 4500), line("b", 15, 4500)];
    const joined = laid([5000], cups, 10);
    const back = { charges: joined, remainderCents: 4000, lines: cups };
    expect(refund({ ...back, amountCents: 900, returned: units({ a: 3 }) })).toEqual([900, [300, 300, 300], 0]);
    for (let a = 1; a <= 15; a += 1) {
      const plan = planRefund({ ...back, amountCents: a * 300, returned: units({ a }) });
      for (const way of plan.isPossible ? [plan.split] : plan.nearest) expect(way.remainderCents).toBe(0);
    }
  });

  it("goes to the other method as far as it has paid for the same units, if no charges add up to it", () => {
    const charges = laid([4375], tickets);
    const wish = { charges, remainderCents: 625, lines: tickets };
    expect(refund({ ...wish, amountCents: 251, returned: units({ ticket: 1 }) })).toEqual([251, [], 251]);
    expect(refund({ ...wish, amountCents: 2400, returned: units({ ticket: 2 }) })).toEqual([2400, [1875], 525]);
  });

  it("uses other charges if their own don't add up, as close as possible, and their own first", () => {
    const lines = [line("ticket", 1, 3000), line("book", 1, 2000), line("pen", 1, 700)];
    const charges = laid([5700], lines);
    const wish = { charges, remainderCents: 0, lines };
    // The book alone is 20.00, but the refund is 27.00.
    expect(refund({ ...wish, amountCents: 2700, returned: units({ book: 1 }) })).toEqual([2700, [2000, 700], 0]);
    expect(nearestTo({ ...wish, amountCents: 2600, returned: units({ book: 1 }) })).toEqual([
      [2000, [2000], 0],
      [2700, [2000, 700], 0],
    ]);
    const same: OpenCharge[] = charges.map((charge) => ({ ...charge, cents: 1000 }));
    const twice = { charges: same, remainderCents: 0, amountCents: 2000, lines, returned: units({ ticket: 1 }) };
    expect(possible(planRefund(twice)).charges).toEqual([same[0], same[2]]);
  });

  it("prefers two charges of returned units and one other over a single other", () => {
    const lines = ["a", "b", "c", "d"].map((id) => line(id, 1, 1));
    const charges = laid([4], lines).map((charge, place) => ({
      ...charge,
      cents: [300, 1000, 700, 2000][place] ?? 0,
    }));
    const wish = { amountCents: 2000, charges, remainderCents: 0, lines, returned: units({ b: 1, c: 1 }) };
    expect(refund(wish)).toEqual([2000, [300, 1000, 700], 0]);
  });

  it("comes from the other method if no card paid for the units", () => {
    const lines = [line("ticket", 2, 4000)];
    const charges = laid([2000], lines);
    const wish = { amountCents: 2000, charges, remainderCents: 2000, lines, returned: units({ ticket: 1 }) };
    expect(refund(wish)).toEqual([2000, [], 2000]);
  });

  it("is in proportion without units", () => {
    const charges = whole(2000, 2000);
    expect(refund({ amountCents: 4000, charges, remainderCents: 4000 })).toEqual([4000, [2000], 2000]);
    expect(refund({ amountCents: 4000, charges, remainderCents: 4000, rule: "as-paid" })).toEqual([4000, [2000], 2000]);
  });
});

describe("a refund with a rule", () => {
  const charges = whole(1000, 2500, 700);

  it("goes to the cards as far as possible with cards-first", () => {
    const wish = { charges, remainderCents: 5000, rule: "cards-first" as const };
    expect(refund({ ...wish, amountCents: 3400 })).toEqual([3400, [2500, 700], 200]);
    expect(refund({ ...wish, amountCents: 600 })).toEqual([600, [], 600]);
  });

  it("goes to the other method as far as possible with remainder-first", () => {
    const wish = { charges, remainderCents: 500, rule: "remainder-first" as const };
    expect(refund({ ...wish, amountCents: 500 })).toEqual([500, [], 500]);
    expect(refund({ ...wish, amountCents: 1150 })).toEqual([1150, [700], 450]);
  });

  it("goes to both in proportion, and rounds in favor of the cards", () => {
    const wish = { amountCents: 2000, rule: "in-proportion" as const };
    expect(refund({ ...wish, charges: whole(1000, 2000), remainderCents: 3000 })).toEqual([2000, [1000], 1000]);
    expect(refund({ ...wish, charges: whole(500, 1500), remainderCents: 2000 })).toEqual([2000, [1500], 500]);
  });

  it("uses the last charges of those with the same sum", () => {
    const same = whole(1000, 1000, 400, 600, 1000);
    for (const rule of rules) {
      const split = possible(planRefund({ amountCents: 2000, charges: same, remainderCents: 0, rule }));
      expect(split.charges).toEqual([same[2], same[3], same[4]]);
    }
  });
});

describe("a refund that whole charges don't add up to", () => {
  it("returns the nearest possible amounts with their split", () => {
    const wish = { amountCents: 3000, charges: whole(2500, 5000), remainderCents: 100 };
    for (const rule of rules)
      expect(nearestTo({ ...wish, rule })).toEqual([
        [2600, [2500], 100],
        [5000, [5000], 0],
      ]);
  });

  it("returns no lower amount if that is 0", () => {
    expect(nearestTo({ amountCents: 1000, charges: whole(2500), remainderCents: 0 })).toEqual([[2500, [2500], 0]]);
  });

  it("returns everything that is open if more is requested", () => {
    const charges = whole(2500, 700);
    expect(nearestTo({ amountCents: 4001, charges, remainderCents: 800 })).toEqual([[4000, [2500, 700], 800]]);
    expect(nearestTo({ amountCents: 1, charges: [], remainderCents: 0 })).toEqual([]);
    expect(nearestTo({ amountCents: 2, charges: [], remainderCents: 1 })).toEqual([[1, [], 1]]);
  });

  it("is refused if it is invalid", () => {
    const charges = whole(2500);
    for (const amountCents of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => planRefund({ amountCents, charges, remainderCents: 0 })).toThrow(RangeError);
    for (const cents of [-1, 0.5, Number.NaN]) {
      expect(() => planRefund({ amountCents: 1, charges, remainderCents: cents })).toThrow(RangeError);
      expect(() => planRefund({ amountCents: 1, charges: whole(cents), remainderCents: 5 })).toThrow(RangeError);
    }
    expect(() => planRefund({ amountCents: 1, charges: [...charges, ...charges], remainderCents: 5 })).toThrow(
      RangeError,
    );
    expect(() => planRefund({ amountCents: 1, charges, remainderCents: 5, returned: units({ a: 1 }) })).toThrow(
      RangeError,
    );
  });

  it("returns the nearest lower amount even if a higher one is nearer", () => {
    const charges = whole(1000, 5000);
    expect(nearestTo({ amountCents: 4900, charges, remainderCents: 500 })).toEqual([
      [1500, [1000], 500],
      [5000, [5000], 0],
    ]);
  });

  it("is planned fast enough for many charges", () => {
    const charges = whole(...Array.from({ length: 50 }, (_, place) => 3000 + ((place * 7919) % 2000)));
    const started = performance.now();
    const openCents = sum(centsOf(charges));
    const allButFirst = openCents - 3000;
    expect(refund({ amountCents: allButFirst, charges, remainderCents: 0 })[2]).toBe(0);
    expect(nearestTo({ amountCents: openCents - 1, charges, remainderCents: 0 })).toHaveLength(2);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe("the returned units", () => {
  const lines = [line("a", 4, 4000), line("b", 1, 300)];
  const joinedLast = laid([4300], lines, 4);
  const named = (returned: Record<string, number>, charges = joinedLast, of = lines) =>
    returnedUnits(of, charges, units(returned)).map((unit) => unit.line + unit.unit);

  it("are those with charges of their own, the last first, then the others", () => {
    expect(joinedLast.map(({ pieces }) => pieces?.length)).toEqual([1, 1, 2, 1]);
    expect(named({ a: 1 })).toEqual(["a2"]);
    expect(named({ a: 3, b: 1 })).toEqual(["a2", "a1", "a4", "b1"]);
    expect(named({ a: 2 }, laid([4300], lines))).toEqual(["a4", "a3"]);
    expect(named({ a: 2 }, whole(4300))).toEqual(["a4", "a3"]);
  });

  it("are none or all if the number is out of range", () => {
    expect(named({})).toEqual([]);
    expect(named({ a: -1, b: 0, c: 7 })).toEqual([]);
    expect(named({ a: Number.NaN, b: 0.9 })).toEqual([]);
    expect(named({ a: 9, b: 2 })).toEqual(["a2", "a1", "a4", "a3", "b1"]);
    expect(named({ a: 1.9 })).toEqual(["a2"]);
    expect(named({ a: 0 }, [], [line("a", 0, 100)])).toEqual([]);
    expect(named({ a: 1 }, [], [line("a", 0, 100)])).toEqual(["a1"]);
  });

  it("are a line's only unit once all of its fractional quantity is returned", () => {
    const cloth = [line("cloth", 0.8, 999)];
    expect(named({ cloth: 0.7 }, [], cloth)).toEqual([]);
    expect(named({ cloth: 0.7 + 0.1 }, [], cloth)).toEqual(["cloth1"]);
    expect(named({ cloth: 5 }, [], cloth)).toEqual(["cloth1"]);
    expect(named({ a: 0.7 + 0.1 + 0.2 })).toEqual(["a2"]);
  });

  it("stay the same after a joined charge was reversed", () => {
    const [first, second, joined, last] = joinedLast;
    if (!first || !second || !joined || !last) throw new Error("It has four charges.");
    const wish = { amountCents: 1000, charges: [first, second, last], remainderCents: 0, lines };
    const returned = units({ a: 1 });
    expect(possible(planRefund({ ...wish, reversed: [joined], returned })).charges).toEqual([second]);
  });

  it("have the value that they add to those returned before", () => {
    const uneven = [line("a", 3, 1000), line("cloth", 2.5, 700)];
    const value = (now: Record<string, number>, before: Record<string, number>) =>
      valueOfUnits(uneven, [], units(now), units(before));
    expect(value({ a: 1 }, {})).toBe(333);
    expect(value({ a: 1 }, { a: 1 })).toBe(334);
    expect(value({ a: 2 }, { a: 1 })).toBe(667);
    expect(value({ a: 3, cloth: 2.5 }, {})).toBe(1700);
    expect(value({ cloth: 1.5 }, { cloth: 0.5 })).toBe(0);
    expect(value({ cloth: 0.5 }, { cloth: 2, a: 1 })).toBe(700);
    expect(value({ a: 1 }, { a: 3 })).toBe(0);
    expect(value({}, { a: 1 })).toBe(0);
  });
});

/** An order with up to ten charges of few cents, so that many sums are equal. */
const smallWishes = fc
  .record({
    quantities: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
    charges: fc.array(
      fc.tuple(
        fc.integer({ min: 1, max: 12 }),
        fc.option(fc.array(fc.tuple(fc.nat(2), fc.nat(3)), { minLength: 1, maxLength: 3 })),
      ),
      { maxLength: 10 },
    ),
    returned: fc.option(fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }), { freq: 4 }),
    remainderCents: fc.oneof(fc.constant(0), fc.nat(30)),
    share: fc.double({ min: 0, max: 1.05, noNaN: true }),
    reversed: fc.nat(2),
    rule: fc.option(fc.constantFrom(...rules), { nil: undefined }),
  })
  .map(({ quantities, charges, returned, share, reversed, ...rest }) => {
    const lines = quantities.map((quantity, place) => line(`${place}`, quantity, quantity * 5));
    const all = charges.map(([cents, pieces], place) => ({
      ...{ reference: `r${place}`, lastFour: "1234", cents },
      pieces: pieces?.map(([of, unit]) => ({ line: `${of}`, unit: unit + 1, cents: 1 })) ?? null,
    }));
    const open = all.slice(reversed);
    return {
      ...rest,
      ...{ lines, charges: open, reversed: all.slice(0, reversed) },
      amountCents: Math.max(1, Math.floor(share * (sum(centsOf(open)) + rest.remainderCents))),
      returned: returned ? new Map(returned.map((quantity, place) => [`${place}`, quantity])) : undefined,
    };
  });

/** Whether the plan depends on what the cards paid of each unit. */
const isByUnits = ({ charges, reversed = [], returned, rule = "as-paid" }: RefundWish) =>
  rule === "as-paid" && returned !== undefined && [...charges, ...reversed].every(({ pieces }) => pieces !== null);

describe("for random charges", () => {
  it("the cards get exactly what they paid of the units, or only the nearest sums are possible", () => {
    fc.assert(
      fc.property(smallWishes, (wish) => {
        fc.pre(isByUnits(wish));
        const { charges, reversed = [], remainderCents, amountCents } = wish;
        const isBack = (piece: Piece) =>
          isBackByTrying(wish, { reference: "", lastFour: "", cents: 0, pieces: [piece] });
        const pieces = [...charges, ...reversed].flatMap((charge) => charge.pieces ?? []);
        const goneCents = sum(centsOf(reversed.flatMap((charge) => charge.pieces ?? [])));
        const paidCents = Math.max(0, sum(centsOf(pieces.filter(isBack))) - goneCents);
        const atLeast = Math.max(0, amountCents - remainderCents);
        const wanted = Math.min(Math.max(paidCents, atLeast), amountCents, sum(centsOf(charges)));
        const sums = [...Array(2 ** charges.length).keys()].map((mask) =>
          sum(centsOf(charges.filter((_, place) => (mask >> place) % 2 === 1))),
        );
        // If the other method has too little left, the cards may get more.
        const more = sums.filter((cents) => cents >= wanted && cents <= amountCents).sort((one, two) => one - two);
        const { lines = [] } = wish;
        const units = lines.flatMap(({ id, quantity, totalCents }) =>
          [...Array(quantity).keys()].map((at) => ({ line: id, unit: at + 1, cents: totalCents / quantity })),
        );
        const paidByOther = (some: readonly Piece[], paid: readonly Piece[]) => sum(centsOf(some)) - sum(centsOf(paid));
        const otherGone = Math.max(0, paidByOther(units, pieces) - remainderCents);
        const share = Math.max(0, paidByOther(units.filter(isBack), pieces.filter(isBack)) - otherGone);
        // If no charges add up to it, the other method refunds up to its own share of these units.
        const least = amountCents - Math.min(remainderCents, share);
        const less = sums.filter((cents) => cents <= wanted && cents >= least).sort((one, two) => two - one);
        const target = (atLeast > paidCents ? more[0] : undefined) ?? less[0] ?? wanted;
        const plan = planRefund(wish);
        const ways = plan.isPossible ? [plan.split] : plan.nearest;
        for (const way of ways) expect(way.amountCents).toBe(sum(centsOf(way.charges)) + way.remainderCents);
        const toCards = ways.map((way) => sum(centsOf(way.charges)));
        const fromOther = Math.min(remainderCents, amountCents - target);
        expect(plan.isPossible).toBe(sums.includes(target) && target + fromOther === amountCents);
        if (plan.isPossible) expect(toCards).toEqual([target]);
        const below = Math.max(...sums.filter((cents) => cents <= target));
        const above = Math.min(...sums.filter((cents) => cents > target));
        const near = [below, above].filter((cents) => Number.isFinite(cents) && cents + fromOther > 0);
        if (!plan.isPossible) expect(toCards).toEqual(near);
      }),
      { numRuns: 1500 },
    );
  });

  it("the plan is the best of all splits", () => {
    fc.assert(
      fc.property(smallWishes, (wish) => {
        fc.pre(!isByUnits(wish));
        const possibleSplits = splitsByTrying(wish);
        const plan = planRefund(wish);
        const expected = possibleSplits.get(wish.amountCents);
        const others = [...possibleSplits.values()];
        const lower = others.findLast(({ amountCents }) => amountCents < wish.amountCents);
        const higher = others.find(({ amountCents }) => amountCents > wish.amountCents);
        const nearest = [lower, higher].filter((one) => one !== undefined);
        expect(plan).toEqual(expected ? { isPossible: true, split: expected } : { isPossible: false, nearest });
      }),
      { numRuns: 1500 },
    );
  });
});

/** A random order, its cards, and its later refunds, as numbers to choose by. */
const histories = fc
  .record({
    lines: fc.array(
      fc.tuple(
        fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 4 }) }, fc.constantFrom(0.5, 2.5)),
        fc.oneof(
          fc.nat(800),
          fc.nat(8).map((euros) => euros * 100),
        ),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    wantedCents: fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 3 }),
    charging: fc.constantFrom("whole", "by unit", "joined"),
    maxCharges: fc.integer({ min: 1, max: 4 }),
    rule: fc.constantFrom<RefundRule>("as-paid", ...rules),
    /** Some refunds are not the value of units. */
    hasOthers: fc.boolean(),
    choices: fc.array(fc.nat(10_000), { minLength: 8, maxLength: 8 }),
  })
  .map(({ lines, wantedCents, maxCharges, ...rest }) => {
    const ordered = lines.map(([quantity, totalCents], place) => line(`l${place}`, quantity, totalCents));
    let remainderCents = sum(ordered.map(({ totalCents }) => totalCents));
    const partsCents: number[] = [];
    for (const cents of wantedCents) {
      const partCents = Math.min(cents, remainderCents);
      if (partCents > 0) partsCents.push(partCents);
      remainderCents -= partCents;
    }
    const limit = rest.charging === "joined" ? maxCharges : 100;
    const charges = rest.charging === "whole" ? whole(...partsCents) : laid(partsCents, ordered, limit);
    return { ...rest, lines: ordered, partsCents, remainderCents, charges };
  });

type History = typeof histories extends fc.Arbitrary<infer One> ? One : never;

describe("over the life of 10,000 orders", () => {
  it("each plan is refunded exactly and once, no payer gets more than they paid, and finally everything is refunded", () => {
    const seen = { planned: 0, impossible: 0, exact: 0 };
    fc.assert(
      fc.property(histories, (history) => {
        const life = live(history);
        seen.planned += life.planned;
        seen.impossible += life.impossible;
        seen.exact += life.exact;
      }),
      { numRuns: 10_000 },
    );
    // Each kind occurred often enough.
    expect(seen.planned).toBeGreaterThan(20_000);
    expect(seen.impossible).toBeGreaterThan(1000);
    expect(seen.exact).toBeGreaterThan(2000);
  });
});

/** Makes an order's returns and other refunds until everything is refunded, and checks each with independent books. */
function live({ lines, partsCents, remainderCents, charges, rule, choices, ...history }: History) {
  const open = new Map(charges.map(({ reference, cents }) => [reference, cents]));
  const reversed: OpenCharge[] = [];
  let leftCents = remainderCents;
  const returned = new Map(lines.map(({ id }) => [id, 0]));
  const seen = { planned: 0, impossible: 0, exact: 0 };
  const openCents = () => sum([...open.values()]) + leftCents;

  const give = (split: RefundSplit) => {
    expect(split.remainderCents).toBeGreaterThanOrEqual(0);
    expect(sum(centsOf(split.charges)) + split.remainderCents).toBe(split.amountCents);
    for (const charge of split.charges) {
      expect(open.get(charge.reference)).toBe(charge.cents);
      open.delete(charge.reference);
      reversed.push(charge);
    }
    leftCents -= split.remainderCents;
    expect(leftCents).toBeGreaterThanOrEqual(0);
    return split;
  };

  /** Refunds the amount, or one of the nearest possible amounts, or nothing. */
  const refundOf = (amountCents: number, choice: number): RefundSplit | undefined => {
    if (amountCents === 0) return undefined;
    const stillOpen = charges.filter(({ reference }) => open.has(reference));
    const before = { charges: stillOpen, reversed, remainderCents: leftCents };
    const plan = planRefund({ ...before, amountCents, lines, returned, rule });
    // For units, the other method doesn't refund what a card paid.
    if (plan.isPossible || rule !== "as-paid" || history.charging === "whole")
      expect(plan.isPossible).toBe(canMake([...open.values()], leftCents, amountCents));
    seen.planned += 1;
    if (plan.isPossible) expect(plan.split.amountCents).toBe(amountCents);
    if (plan.isPossible) return give(plan.split);
    seen.impossible += 1;
    const offered = plan.nearest[choice % 3];
    return offered && give(offered);
  };

  /** Returns some units of a line, and refunds their value. */
  const bringBack = (own: OrderLine, quantity: number, choice: number): number => {
    const before = new Map(returned);
    returned.set(own.id, (before.get(own.id) ?? 0) + quantity);
    const worthCents = valueOfUnits(lines, charges, new Map([[own.id, quantity]]), before);
    const split = refundOf(Math.min(worthCents, openCents()), choice);
    if (history.charging !== "by unit" || rule !== "as-paid" || history.hasOthers) return worthCents;
    const paidCents = paidFor({ lines, partsCents, own, before, returned });
    expect(worthCents).toBe(sum(paidCents));
    expect(byPayer(partsCents, split?.charges ?? [], split?.remainderCents ?? 0)).toEqual(paidCents);
    seen.exact += 1;
    return worthCents;
  };

  let allWorthCents = 0;
  for (const choice of choices) {
    const own = lines[choice % lines.length];
    const missing = own ? own.quantity - (returned.get(own.id) ?? 0) : 0;
    const some = Number.isInteger(missing) ? 1 + (choice % 3) : missing / 2;
    if (own && missing > 0) allWorthCents += bringBack(own, Math.min(missing, some), choice);
    if (history.hasOthers && choice % 4 === 0 && openCents() > 0) refundOf(1 + (choice % openCents()), choice);
  }
  for (const own of lines) {
    const missing = own.quantity - (returned.get(own.id) ?? 0);
    if (missing > 0) allWorthCents += bringBack(own, missing, 0);
  }
  expect(allWorthCents).toBe(sum(lines.map(({ totalCents }) => totalCents)));
  const rest = openCents();
  expect(refundOf(rest, 0)?.amountCents ?? 0).toBe(rest);
  expect(open.size).toBe(0);
  expect(byPayer(partsCents, reversed, remainderCents - leftCents)).toEqual([...partsCents, remainderCents]);
  return seen;
}

/** Returns the amounts of each card and of the other method, in this order. */
function byPayer(partsCents: readonly number[], charges: readonly OpenCharge[], remainderCents: number): number[] {
  const ofCard = (card: number) => sum(centsOf(charges.filter(({ lastFour }) => Number(lastFour) === card)));
  return [...partsCents.map((_, card) => ofCard(card)), remainderCents];
}

/** Returns the sums that amounts can add up to, as a bit for each sum. */
function canMake(amounts: readonly number[], remainderCents: number, sumCents: number): boolean {
  const made = amounts.reduce((bits, cents) => bits | (bits << BigInt(cents)), 1n);
  const leastCents = Math.max(0, sumCents - remainderCents);
  return ((made >> BigInt(leastCents)) & ((1n << BigInt(sumCents - leastCents + 1)) - 1n)) !== 0n;
}

/** Returns what each card and the other method paid for returned units, by their positions on a line of cents. */
function paidFor({ lines, partsCents, own, before, returned }: Returning): number[] {
  const startCents = sum(lines.slice(0, lines.indexOf(own)).map(({ totalCents }) => totalCents));
  const count = Number.isInteger(own.quantity) ? own.quantity : 1;
  /** The end of the units that are not returned. The last are returned first, but never those of no cents. */
  const endAfter = (back: ReadonlyMap<string, number>) => {
    const quantity = back.get(own.id) ?? 0;
    const units = count === own.quantity ? quantity : Math.floor(quantity / own.quantity);
    const left = Math.max(0, Math.min(count, own.totalCents) - units);
    return startCents + (own.totalCents < count ? left : Math.round((own.totalCents * left) / count));
  };
  const [from, to] = [endAfter(returned), endAfter(before)];
  const ends = [...partsCents.map((_, card) => sum(partsCents.slice(0, card + 1))), Number.POSITIVE_INFINITY];
  return ends.map((end, payer) => Math.max(0, Math.min(end, to) - Math.max(ends[payer - 1] ?? 0, from)));
}

interface Returning {
  readonly lines: readonly OrderLine[];
  readonly partsCents: readonly number[];
  readonly own: OrderLine;
  readonly before: ReadonlyMap<string, number>;
  readonly returned: ReadonlyMap<string, number>;
}

/** Returns the best split for each possible amount, by the definition of the rules. */
function splitsByTrying(wish: RefundWish): Map<number, RefundSplit> {
  const { charges, remainderCents, rule = "as-paid" } = wish;
  const back = charges.map((charge) => isBackByTrying(wish, charge));
  const openCents = sum(centsOf(charges));
  const ways = Array.from({ length: 2 ** charges.length }, (_, mask) => {
    const isChosen = charges.map((_, place) => (mask >> place) % 2 === 1);
    const centsWhere = (isBack: boolean) =>
      sum(centsOf(charges.filter((_, place) => isChosen[place] && back[place] === isBack)));
    const [ofBack, ofOthers] = [centsWhere(true), centsWhere(false)];
    /** Early charges of a kind count most, however many late ones are kept. */
    const early = (isBack: boolean) =>
      sum(charges.map((_, place) => (isChosen[place] && back[place] === isBack ? 2 ** -place : 0)));
    return { isChosen, ofBack, ofOthers, cents: ofBack + ofOthers, early: [early(true), early(false)] };
  });
  const found = new Map<number, RefundSplit>();
  for (let amountCents = 1; amountCents <= openCents + remainderCents; amountCents += 1) {
    // In fractions of a cent, so that nothing is rounded.
    const parts = openCents + remainderCents;
    const byRule: Record<RefundRule, number> = {
      "as-paid": wish.returned ? 0 : amountCents * openCents,
      "cards-first": amountCents * parts,
      "remainder-first": 0,
      "in-proportion": amountCents * openCents,
    };
    const ranked = ways
      .filter(({ cents }) => cents <= amountCents && amountCents - cents <= remainderCents)
      .map((way) => {
        const far = Math.abs(way.cents * parts - byRule[rule]);
        return { way, rank: [far, -way.cents, -way.ofBack, ...way.early] };
      })
      .sort((a, b) => a.rank.map((one, place) => one - (b.rank[place] ?? 0)).find((less) => less !== 0) ?? 0);
    const [best] = ranked;
    if (!best) continue;
    const chosen = charges.filter((_, place) => best.way.isChosen[place]);
    found.set(amountCents, { amountCents, charges: chosen, remainderCents: amountCents - best.way.cents });
  }
  return found;
}

function isBackByTrying({ charges, reversed = [], lines = [], returned }: RefundWish, charge: OpenCharge): boolean {
  if (!returned || !charge.pieces) return false;
  const inJoined = [...charges, ...reversed].flatMap(({ pieces }) => (pieces && pieces.length > 1 ? pieces : []));
  return charge.pieces.every((piece) => {
    const own = lines.find(({ id }) => id === piece.line);
    if (!own || piece.unit > own.quantity) return false;
    const isJoined = (unit: number) => inJoined.some((one) => one.line === own.id && one.unit === unit);
    // The number of units of the line that are returned before this one.
    const before = Array.from({ length: own.quantity }, (_, place) => place + 1).filter((unit) =>
      isJoined(unit) === isJoined(piece.unit) ? unit > piece.unit : !isJoined(unit),
    );
    return before.length < (returned.get(own.id) ?? 0);
  });
}
