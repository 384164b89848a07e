import { isOpen } from "../books/books.js";
import { sum } from "../books/cents.js";
import type { PaymentBooks } from "../books/medusa.js";
import { euro } from "./admins.js";
import type { Books, OrderBooks } from "./books.js";
import { lastFourOf } from "./cards.js";
import type { Round } from "./round.js";

/** A broken promise. */
export interface Violation {
  /** The name of the promise. */
  readonly kind: string;
  readonly what: string;
  /** The cart's index, or -1. */
  readonly cart: number;
}

type Say = (kind: string, cartId: string | null, what: string) => void;

/** Returns the cents of a payment that are not refunded. */
const paysCents = ({ cents, refunded }: PaymentBooks) => cents - refunded;

/** Finds the promises that the books break. */
export function judgeBooks(round: Round, books: Books, devalues: readonly (string | undefined)[]): Violation[] {
  const found: Violation[] = [];
  const say: Say = (kind, cartId, what) =>
    void found.push({ kind, what, cart: round.carts.findIndex(({ id }) => id === cartId) });
  judgeCards(round, books, say);
  judgeJournal(books, say);
  for (const cart of books.carts) judgeCart(round, books, cart, say);
  const twice = devalues.filter((key, index) => key === undefined || devalues.indexOf(key) !== index);
  if (twice.length > 0) say("devalue sent twice", null, `${twice.length} devalues without a key of their own`);
  return found;
}

/** Checks for each card that the amount the service took equals the active gift card payments, minus refunds. */
function judgeCards({ cards }: Round, { charges, payments, takenCents }: Books, say: Say): void {
  for (const [index, card] of cards.entries()) {
    const own = charges.filter((charge) => charge.last_four === lastFourOf(card));
    const booked = payments.filter(
      (payment) => isAlive(payment) && own.some((charge) => charge.external_id === payment.session_id),
    );
    const bookedCents = sum(booked.map(paysCents));
    const taken = takenCents[index] ?? 0;
    if (taken === bookedCents) continue;
    const cartId = own.at(-1)?.cart_id ?? null;
    const what = `the service took ${euro(taken)} of card ${index}, and payments book ${euro(bookedCents)}`;
    say("card and books differ", cartId, what);
  }
}

const isAlive = ({ is_canceled, is_gift }: PaymentBooks) => is_gift && !is_canceled;

/** Checks that no charge, card or lease stays open, and that each charge has one amount and the right order. */
function judgeJournal(books: Books, say: Say): void {
  const { charges, tenders, payments, orders, leases } = books;
  for (const { state, reason, cart_id } of charges) {
    if (isOpen(state)) say("open for ever", cart_id, `a charge stays ${state} (${reason ?? "no reason"})`);
  }
  for (const { id, state, cart_id } of tenders) {
    const isHeld = charges.some((charge) => charge.tender_id === id && isOpen(charge.state));
    if (state === "charging" && !isHeld)
      say("open for ever", cart_id, "a card stays in charging, and no charge is open");
  }
  for (const cartId of leases) say("open for ever", cartId, "the cart is leased, and nobody is at work");
  for (const charge of charges.filter(({ state }) => state === "committed" || state === "captured")) {
    const { cart_id, amount_cents, deducted_cents, order_id } = charge;
    const payment = payments.find(({ session_id }) => session_id === charge.external_id);
    const ofPayment = charges.filter(({ external_id }) => external_id === charge.external_id);
    const askedCents = sum(ofPayment.map((one) => one.amount_cents));
    if (deducted_cents !== amount_cents || payment?.cents !== askedCents) {
      const what = `asked ${amount_cents} of ${askedCents}, taken ${deducted_cents}, booked ${payment?.cents ?? "nothing"}`;
      say("one charge, several amounts", cart_id, what);
    }
    const order = orders.find(({ id }) => id === order_id);
    if (order?.cart_id !== cart_id)
      say("charge without its order", cart_id, `a ${charge.state} charge names ${order_id}`);
  }
  judgeCharges(books, say);
}

/** Checks that a payment's kept charges add up to its unrefunded cents, and a refund's reversed charges to its amount. */
function judgeCharges({ charges, payments, cardRefunds }: Books, say: Say): void {
  for (const payment of payments.filter(isAlive)) {
    const own = charges.filter(({ external_id }) => external_id === payment.session_id);
    const kept = own.filter(({ state }) => state === "committed" || state === "captured");
    const keptCents = sum(kept.map(({ amount_cents }) => amount_cents));
    if (keptCents === paysCents(payment)) continue;
    const what = `a card's payment pays ${euro(paysCents(payment))}, and its charges hold ${euro(keptCents)}`;
    say("charges and payment differ", payment.cart_id, what);
  }
  for (const { id, cart_id, cents } of cardRefunds) {
    const back = charges.filter(({ refund_id }) => refund_id === id);
    const backCents = sum(back.map(({ amount_cents }) => amount_cents));
    if (backCents === cents && back.every(({ state }) => state === "reversed")) continue;
    const what = `a refund of ${euro(cents)} gave back ${back.map((one) => euro(one.amount_cents)).join(", ") || "nothing"}`;
    say("charges and refund differ", cart_id, what);
  }
}

function judgeCart(round: Round, books: Books, { id, is_completed }: Books["carts"][number], say: Say): void {
  const orders = books.orders.filter(({ cart_id }) => cart_id === id);
  const payments = books.payments.filter(({ cart_id }) => cart_id === id);
  const [order] = orders;
  // A cart without cards has only Medusa's own lock. That lock is in memory, so Medusa's routes race between processes
  // and may leave wrong books. But even then only an admin may cancel a paid order.
  if (!books.tenders.some(({ cart_id }) => cart_id === id)) {
    if (order?.is_canceled) judgeCanceled(round, order, say);
    return;
  }
  if (orders.length > 1) say("two orders of one cart", id, `${orders.length} orders`);
  if (is_completed && !order) say("completed without an order", id, "the cart is completed, and there is no order");
  // A webhook that loses a race with a page reopens the cart. Recovery closes the cart if a card pays for its order.
  const isCardOrder = order && books.charges.some((charge) => charge.order_id === order.id);
  if (!is_completed && isCardOrder && !order.is_canceled)
    say("order of an open cart", id, "the cart can be completed again");
  judgeBank(books, id, payments, say);
  if (!order || order.is_canceled) judgeWhole(books, id, payments, order, say);
  else {
    judgeStanding(books, payments, order, say);
    const living = payments.filter(({ is_canceled }) => !is_canceled);
    judgeShown(living, order, say);
    judgeGiven(round, living, order, say);
  }
  if (order?.is_canceled) {
    // A cancel that fails halfway leaves its refunds in the order's sums, although Medusa rolls the refunds back.
    const index = round.carts.findIndex((cart) => cart.id === id);
    const isHalf = round.entries.some(
      ({ cart, step, status }) => cart === index && step === "cancel" && status !== 200,
    );
    if (!isHalf) judgeShown(payments, order, say);
    judgeCanceled(round, order, say);
  }
}

/** Checks that the bank holds what Medusa has booked for each payment session. */
function judgeBank({ bank }: Books, cartId: string, payments: readonly PaymentBooks[], say: Say): void {
  const others = payments.filter(({ is_gift, is_canceled }) => !is_gift && !is_canceled);
  const sessions = new Set([
    ...bank.filter(({ cart }) => cart === cartId).map(({ session }) => session),
    ...others.map(({ session_id }) => session_id),
  ]);
  for (const session of sessions) {
    const held = sum(bank.filter((row) => row.session === session).map(({ cents }) => cents));
    const booked = sum(others.filter(({ session_id }) => session_id === session).map(paysCents));
    if (held !== booked)
      say("bank and books differ", cartId, `the bank has ${euro(held)}, and Medusa books ${euro(booked)}`);
  }
}

/** Checks that a canceled order, or a cart without an order, holds nobody's money. */
function judgeWhole(
  { bank }: Books,
  cartId: string,
  payments: readonly PaymentBooks[],
  order: OrderBooks | undefined,
  say: Say,
): void {
  const of = order ? "a canceled order" : "a cart without an order";
  const gifts = sum(payments.filter(isAlive).map(paysCents));
  if (gifts > 0) say("money without an order", cartId, `${of} keeps ${euro(gifts)} of a card`);
  const held = sum(bank.filter(({ cart }) => cart === cartId).map(({ cents }) => cents));
  if (held > 0) say("money without an order", cartId, `${of} keeps ${euro(held)} at the bank`);
}

/** Checks that an active order was paid with its total when placed, and holds no more than its highest total. */
function judgeStanding({ pending }: Books, payments: readonly PaymentBooks[], order: OrderBooks, say: Say): void {
  const living = payments.filter(({ is_canceled }) => !is_canceled);
  const made = sum(living.map(({ cents }) => cents));
  const kept = sum(living.map(paysCents));
  const promised = sum(pending.filter(({ cart_id }) => cart_id === order.cart_id).map(({ cents }) => cents));
  // If an edit or return leaves money to pay, Medusa voids the uncaptured payments and requests a new payment.
  const isPaid = made + promised === order.placed || (order.is_changed && made + promised < order.placed);
  if (!isPaid) {
    say("order not paid as placed", order.cart_id, `placed for ${euro(order.placed)}, and ${euro(made)} were booked`);
  }
  if (kept > order.highest) {
    say("booked more than it costs", order.cart_id, `${euro(kept)} of at most ${euro(order.highest)}`);
  }
}

/**
 * Checks that the order's paid and refunded amounts equal the captures and refunds. The sums of its transactions may
 * match instead: if Medusa writes an edit, a return or a fulfillment at the same time, its summary loses a transaction.
 */
function judgeShown(payments: readonly PaymentBooks[], order: OrderBooks, say: Say): void {
  const captured = sum(payments.map((payment) => payment.captured));
  const refunded = sum(payments.map((payment) => payment.refunded));
  const isShown = order.paid === captured && order.refunded === refunded;
  if (isShown || (order.bookedPaid === captured && order.bookedRefunded === refunded)) return;
  say(
    "order shows other sums",
    order.cart_id,
    `${euro(order.paid)} paid and ${euro(order.refunded)} refunded, of ${euro(captured)} captured and ${euro(refunded)} refunded`,
  );
}

/**
 * Checks that admins who refunded only what the order owed left it at least its lowest total. A split may exceed the
 * amount owed if no charges add up to it, but Medusa then lowers the order's total.
 */
function judgeGiven({ entries, carts }: Round, payments: readonly PaymentBooks[], order: OrderBooks, say: Say): void {
  const index = carts.findIndex(({ id }) => id === order.cart_id);
  const own = entries.filter(({ cart }) => cart === index);
  const others = ["refund bank", "refund card", "cancel"];
  if (!own.some(({ gaveCents }) => gaveCents > 0) || own.some(({ step }) => others.includes(step))) return;
  const kept = sum(payments.map(({ captured, refunded }) => captured - refunded));
  if (kept >= order.lowest) return;
  say("given back more than owed", order.cart_id, `${euro(kept)} are kept of an order of ${euro(order.lowest)}`);
}

/** Checks that only an admin cancels an order that was confirmed to a shopper. */
function judgeCanceled({ entries, carts }: Round, order: OrderBooks, say: Say): void {
  const index = carts.findIndex(({ id }) => id === order.cart_id);
  const own = entries.filter(({ cart }) => cart === index);
  const wasThanked = own.some(({ orderId }) => orderId === order.id);
  // A payment that the bank promises for later does not count as paid.
  if (own.some(({ what }) => what === "starts a payment (later)")) return;
  const isAsked = own.some(({ step, status }) => step === "cancel" && (status === 200 || status === 0));
  if (wasThanked && !isAsked) say("paid order canceled", order.cart_id, "nobody asked for it");
}
