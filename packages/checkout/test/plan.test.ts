import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cardShare } from "../src/engine/tenders.js";

describe("a card's share", () => {
  it("is the minimum of the open amount, the balance and 50.00 euro, and names which", () => {
    expect(cardShare(7498, 7500, 5000)).toEqual({ amountCents: 5000, limitedBy: "limit" });
    expect(cardShare(7498, 1234, 5000)).toEqual({ amountCents: 1234, limitedBy: "balance" });
    expect(cardShare(2498, 7500, 5000)).toEqual({ amountCents: 2498, limitedBy: "order" });
    expect(cardShare(5000, 5000, 5000)).toEqual({ amountCents: 5000, limitedBy: "order" });
    expect(cardShare(0, 5000, 5000)).toEqual({ amountCents: 0, limitedBy: "order" });
  });

  it("never adds up to more than the total", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.array(fc.nat(20_000), { maxLength: 9 }), (totalCents, balances) => {
        let leftCents = totalCents;
        for (const balanceCents of balances) {
          const { amountCents } = cardShare(leftCents, balanceCents, 5000);
          expect(amountCents).toBeGreaterThanOrEqual(0);
          expect(amountCents).toBeLessThanOrEqual(Math.min(leftCents, balanceCents, 5000));
          leftCents -= amountCents;
        }
        const paidCents = totalCents - leftCents;
        expect(paidCents).toBe(
          Math.min(
            totalCents,
            balances.reduce((sum, b) => sum + Math.min(b, 5000), 0),
          ),
        );
      }),
    );
  });
});
