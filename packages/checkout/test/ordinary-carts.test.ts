import { cents } from "@giftcard-pay/client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { layCharges } from "../src/engine/charge-layout.js";
import { type OpenCharge, planRefund, valueOfUnits } from "../src/engine/refund-plan.js";
import type { OrderLine } from "../src/store/order-line.js";

/*
 * Carts of ordinary shops: VAT included or added, percentages and amounts off, shipping, odd prices. `RUNS` says how many; a
 * failure prints its seed.
 */

const RUNS = Number(process.env.RUNS ?? 1000);
const sum = (cents: readonly number[]) => cents.reduce((total, one) => total + one, 0);

const carts = fc.record({
  items: fc.array(
    fc.record({
      priceCents: fc.constantFrom(2495, 1995, 1295, 2500, 7498, 333, 1999, 149, 1, 100),
      quantity: fc.integer({ min: 1, max: 13 }),
      vat: fc.constantFrom(0, 9, 19, 21),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  isInclusive: fc.boolean(),
  percentOff: fc.constantFrom(0, 5, 10, 12.5, 33, 100),
  centsOff: fc.constantFrom(0, 0, 500, 333),
  shippingCents: fc.constantFrom(0, 495, 599),
  isShippingFree: fc.boolean(),
  balancesCents: fc.array(fc.integer({ min: 1, max: 7500 }), { minLength: 1, maxLength: 5 }),
  order: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
});
type Cart = typeof carts extends fc.Arbitrary<infer One> ? One : never;

/** Rounds lines to whole cents by their running sum, so that they add up to the order's total. */
function linesOf({ items, isInclusive, percentOff, centsOff, shippingCents, isShippingFree }: Cart): OrderLine[] {
  const worth = items.map(({ priceCents, quantity, vat }) => {
    const gross = priceCents * quantity * (isInclusive ? 1 : 1 + vat / 100);
    return gross * (1 - percentOff / 100);
  });
  const share = sum(worth) > 0 ? Math.max(0, 1 - centsOff / sum(worth)) : 0;
  const exact = [...worth.map((one) => one * share), isShippingFree ? 0 : shippingCents * 1.21];
  let running = 0;
  let shared = 0;
  return exact.map((one, index) => {
    running += one;
    const totalCents = Math.round(running) - shared;
    shared += totalCents;
    return { id: `l${index}`, quantity: items[index]?.quantity ?? 1, totalCents: cents(totalCents) };
  });
}

function pay(lines: readonly OrderLine[], balancesCents: readonly number[]) {
  let remainderCents = sum(lines.map(({ totalCents }) => totalCents));
  const partsCents = balancesCents.map((balanceCents) => {
    const partCents = Math.min(balanceCents, 5000, remainderCents);
    remainderCents -= partCents;
    return partCents;
  });
  const charges = layCharges(partsCents, lines, 50).flatMap((laid, card) =>
    laid.map(
      ({ amountCents, pieces }, place): OpenCharge => ({
        ...{ reference: `${card}-${place}`, lastFour: String(card), cents: amountCents, pieces },
      }),
    ),
  );
  return { charges, remainderCents };
}

test(`of ${RUNS} ordinary carts, every unit goes back alone, the way it was paid, and the last one leaves nothing`, () => {
  const seen = { units: 0, joined: 0 };
  fc.assert(
    fc.property(carts, (cart) => {
      const lines = linesOf(cart);
      const { charges, remainderCents } = pay(lines, cart.balancesCents);
      expect(sum(charges.map(({ cents }) => cents)) + remainderCents).toBe(sum(lines.map((one) => one.totalCents)));
      // Units of less than a euro can be joined; other tests cover them.
      if (charges.some(({ pieces }) => (pieces?.length ?? 0) > 1)) {
        seen.joined += 1;
        return;
      }
      const open = new Map(charges.map((charge) => [charge.reference, charge]));
      const returned = new Map<string, number>();
      let leftCents = remainderCents;
      for (const choice of cart.order) {
        const left = lines.filter(({ id, quantity }) => (returned.get(id) ?? 0) < quantity);
        const line = left[choice % Math.max(1, left.length)];
        if (!line) break;
        const amountCents = valueOfUnits(lines, charges, new Map([[line.id, 1]]), returned);
        returned.set(line.id, (returned.get(line.id) ?? 0) + 1);
        if (amountCents === 0) continue;
        const stillOpen = [...open.values()];
        const reversed = charges.filter(({ reference }) => !open.has(reference));
        const plan = planRefund({
          amountCents,
          charges: stillOpen,
          remainderCents: leftCents,
          lines,
          returned,
          reversed,
        });
        if (!plan.isPossible) throw new Error(`${amountCents} of ${line.id} can't go back.`);
        for (const charge of plan.split.charges) {
          expect(charge.pieces?.every((piece) => piece.line === line.id)).toBe(true);
          open.delete(charge.reference);
        }
        leftCents -= plan.split.remainderCents;
        seen.units += 1;
      }
      expect([open.size, leftCents]).toEqual([0, 0]);
    }),
    { numRuns: RUNS },
  );
  expect(seen.units).toBeGreaterThan(RUNS);
  expect(seen.joined).toBeLessThan(RUNS / 3);
});
