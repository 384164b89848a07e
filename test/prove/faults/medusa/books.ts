import { inCents } from "../../../../scripts/shops/whole-cents.mjs";
import { list, same, sum } from "../../books/cents.js";
import { type PaymentBooks, readPayments } from "../../books/medusa.js";
import { returnsOf } from "../books.js";
import type { Purchase } from "../shop.js";
import type { Expect, Outcome, ShopBooks } from "../verdict.js";
import { orderOf } from "./purchase.js";
import type { World } from "./world.js";

/** Medusa's records of an order's payments, in cents. */
interface Paper {
  // biome-ignore lint/suspicious/noExplicitAny: an order as Medusa's admin shows it
  order: any;
  isCartCompleted: boolean;
  payments: PaymentBooks[];
}

/** Reads Medusa's books, the journal and the bank's. */
export async function readBooks(world: World, purchase: Purchase): Promise<ShopBooks> {
  const { cartId } = purchase;
  const { rows: charges } = await world.shopBooks.query("select * from giftcard_charge where cart_id = $1", [cartId]);
  const paper = await readPaper(world, cartId);
  const { order } = paper;
  const captured = charges.filter((a) => a.state === "captured").map((a) => a.amount_cents);
  return {
    charges,
    order: order ? { id: order.id, isCanceled: order.status === "canceled" } : null,
    bankCents: world.bank.heldCents(cartId),
    check(outcome, expect) {
      if (outcome === "paid" && order) checkPaid(paper, purchase, sum(captured), expect);
      if (outcome === "part" && order) checkPart(paper, purchase, sum(captured), expect);
      if (outcome === "whole" || outcome === "refunded") checkBack(paper, purchase, outcome, expect);
    },
  };
}

function checkPaid(paper: Paper, purchase: Purchase, journalCaptured: number, expect: Expect): void {
  const { order, payments } = paper;
  const gifts = payments.filter((payment) => payment.is_gift);
  const others = payments.filter((payment) => !payment.is_gift);
  const rest = purchase.remainderCents > 0 ? [purchase.remainderCents] : [];
  expect(
    same(
      gifts.map((payment) => payment.cents),
      purchase.cards.map((card) => card.partCents),
    ),
    `Medusa's gift card payments are ${list(gifts.map((p) => p.cents))}`,
  );
  expect(
    same(
      others.map((payment) => payment.cents),
      rest,
    ),
    `Medusa's other payments are ${list(others.map((p) => p.cents))}`,
  );
  const captured = sum(payments.map((payment) => payment.captured));
  const giftCaptured = sum(gifts.map((payment) => payment.captured));
  expect(journalCaptured === giftCaptured, `captured: ${giftCaptured} in Medusa, ${journalCaptured} in the journal`);
  expect(inCents(order.total) === purchase.totalCents, `the order's total is ${order.total}`);
  expect(
    inCents(order.summary.paid_total) === captured,
    `the order shows ${order.summary.paid_total} paid of ${captured} cents captured`,
  );
  const asked = captured === purchase.totalCents ? "captured" : captured > 0 ? "partially_captured" : "authorized";
  expect(order.payment_status === asked, `the order's payment is ${order.payment_status}, not ${asked}`);
}

/** One unit is off the order, and in its books once: what the card and the other method got back for it. */
function checkPart({ order, payments }: Paper, purchase: Purchase, journalCaptured: number, expect: Expect): void {
  const [{ cardCents, otherCents } = { cardCents: 0, otherCents: 0 }] = returnsOf(purchase);
  const sumOf = (isGift: boolean, key: "cents" | "refunded" | "captured") =>
    sum(payments.filter((payment) => payment.is_gift === isGift).map((payment) => payment[key]));
  for (const [isGift, backCents] of [
    [true, cardCents],
    [false, otherCents],
  ] as const) {
    const refunded = sumOf(isGift, "refunded");
    const what = isGift ? "card" : "other payment";
    expect(refunded === backCents, `Medusa refunded ${refunded} of the ${what}, not ${backCents}`);
  }
  const giftLeft = sumOf(true, "captured") - cardCents;
  expect(journalCaptured === giftLeft, `captured: ${giftLeft} left in Medusa, ${journalCaptured} in the journal`);
  const backCents = cardCents + otherCents;
  expect(inCents(order.total) === purchase.totalCents - backCents, `the order's total is ${order.total}`);
  const booked = order.transactions.filter(({ reference }: { reference: string }) => reference === "refund");
  expect(
    same(
      booked.map(({ amount }: { amount: number }) => -inCents(amount)),
      [cardCents, otherCents].filter((cents) => cents > 0),
    ),
    `the order's books have refunds of ${list(booked.map(({ amount }: { amount: number }) => amount))}`,
  );
  const { refunded_total: shown, pending_difference: owed } = order.summary;
  expect(inCents(shown) === backCents, `the order shows ${shown} refunded`);
  // Medusa itself takes a cent or less for nothing.
  expect(Math.abs(inCents(owed)) <= 1, `the order still shows ${owed} outstanding`);
}

function checkBack(paper: Paper, { totalCents }: Purchase, outcome: Outcome, expect: Expect): void {
  const { order, payments, isCartCompleted } = paper;
  const live = payments.filter((payment) => payment.refunded < payment.cents);
  expect(live.length === 0, `Medusa keeps payments of ${list(live.map((payment) => payment.cents))}`);
  expect(!isCartCompleted || order, "the cart is completed, and there is no order");
  if (outcome !== "refunded") return;
  const refunded = sum(payments.map((payment) => payment.refunded));
  expect(refunded === totalCents, `the order stands, and ${refunded} cents of it were refunded`);
  expect(
    inCents(order.summary.refunded_total) === refunded,
    `the order shows ${order.summary.refunded_total} refunded`,
  );
}

async function readPaper(world: World, cartId: string): Promise<Paper> {
  const { rows: carts } = await world.shopBooks.query("select completed_at from cart where id = $1", [cartId]);
  return {
    order: await orderOf(world, cartId),
    isCartCompleted: carts[0]?.completed_at != null,
    payments: (await readPayments(world.shopBooks, [cartId])).filter(({ is_canceled }) => !is_canceled),
  };
}
