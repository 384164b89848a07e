import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { expect } from "vitest";
import type { OrderLine } from "../src/index.js";
import type { Stage, TestOrder } from "./each-store.js";
import type { TestCard } from "./shop.js";

/** Two tickets of 37.49. The card pays 50.00: the first one, and 12.51 of the second. The bank pays the remainder. */
export const tickets: readonly OrderLine[] = [{ id: "ticket", quantity: 2, totalCents: cents(7498) }];
export const oneTicket = { lines: { ticket: 1 } };
export const newId = () => `return_${randomUUID()}`;

/** Returns what the tests of refunds share. */
export function withTickets({ card, checkout, order, pay }: Stage) {
  async function paidOrder(lines = tickets, ...more: TestCard[]): Promise<TestOrder> {
    const o = await order(lines, ...more);
    expect(await pay(o)).toMatchObject({ status: "paid" });
    return o;
  }

  /** Returns what is recorded as refunded, of each card and of the remainder; checks that the amounts are the total. */
  async function back(o: TestOrder) {
    const { cards, remainder, totalCents } = await checkout().paidBy(o.id);
    expect(cards.reduce((sum, { amountCents }) => sum + amountCents, remainder.amountCents as number)).toBe(totalCents);
    return [...cards, remainder].map(({ refundedCents, owedCents }) => refundedCents + owedCents);
  }

  const shares = (cardCents: number, remainderCents: number) => ({
    amountCents: cardCents + remainderCents,
    cards: cardCents === 0 ? [] : [{ lastFour: card.cardNumber.slice(-4), amountCents: cardCents }],
    remainderCents,
  });

  return { paidOrder, back, shares, ticketBack: () => shares(1251, 2498) };
}
