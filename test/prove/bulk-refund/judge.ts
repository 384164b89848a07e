import { inCents } from "../../../scripts/shops/whole-cents.mjs";
import { list, sum } from "../books/cents.js";
import { checkIssuer, readCards } from "../books/issuer.js";
import type { World } from "../faults/medusa/world.js";
import type { BoughtOrder } from "./orders.js";

/** Compares the books of the service, the bank and Medusa with the refund due to each order. @returns the differences */
export async function judge(world: World, orders: readonly BoughtOrder[]): Promise<string[]> {
  const wrong = await checkIssuer(world.giftcards);
  for (const order of orders) {
    for (const what of [
      ...(await judgeCards(world, order)),
      ...judgeBank(world, order),
      ...(await judgeOrder(world, order)),
    ])
      wrong.push(`${order.orderId}: ${what}`);
  }
  return wrong;
}

async function judgeCards({ giftcards }: World, { cards }: BoughtOrder): Promise<string[]> {
  return (await readCards(giftcards, cards)).flatMap(({ issuedCents, paidCents, backCents, balanceCents }) => {
    const due = issuedCents - paidCents + backCents;
    return balanceCents === due ? [] : [`a card holds ${balanceCents}, not ${due}`];
  });
}

function judgeBank({ bank }: World, { cartId, bank: { backCents } }: BoughtOrder): string[] {
  const refunds = bank.deeds(cartId).filter(({ deed }) => deed === "refund");
  const cents = refunds.map(({ amount }) => inCents(amount));
  const due = backCents > 0 ? [backCents] : [];
  return list(cents) === list(due) ? [] : [`the bank refunded ${list(cents)}, not ${list(due)}`];
}

async function judgeOrder({ storefront }: World, order: BoughtOrder): Promise<string[]> {
  const { summary, transactions, payment_collections } = await storefront.order(order.orderId);
  const wrong: string[] = [];
  const expect = (what: string, is: unknown, due: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(due))
      wrong.push(`${what} ${JSON.stringify(is)}, not ${JSON.stringify(due)}`);
  };
  const toCents = (major: number) => Math.abs(inCents(major));
  const sorted = (cents: number[]) => cents.filter((one) => one > 0).sort((a, b) => a - b);
  const due = sorted([...order.cards.map(({ backCents }) => backCents), order.bank.backCents]);
  const booked = transactions.filter(({ reference }: { reference: string }) => reference === "refund");
  expect("booked", sorted(booked.map(({ amount }: { amount: number }) => toCents(amount))), due);
  const refunds = payment_collections[0].payments.flatMap(({ refunds }: { refunds: object[] }) => refunds);
  expect("refunded", sorted(refunds.map(({ amount }: { amount: number }) => toCents(amount))), due);
  expect("the order shows", toCents(summary.refunded_total), sum(due));
  // Medusa itself treats a cent or less as nothing outstanding.
  expect("outstanding", toCents(summary.pending_difference) <= 1 ? 0 : summary.pending_difference, 0);
  return wrong;
}
