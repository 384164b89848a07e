import { list, sum } from "../../books/cents.js";
import { returnsOf } from "../books.js";
import type { Expect, Outcome, ShopBooks } from "../verdict.js";
import type { PurchaseRow, RefundRow } from "./checkout-books.js";
import type { PlainPurchase } from "./purchase.js";
import type { World } from "./world.js";

const orderStates = ["paid", "canceling", "canceled", "refunding", "refunded"];

/** The records of the shop and the bank about one cart. */
interface Paper {
  readonly purchases: readonly PurchaseRow[];
  readonly orders: readonly { readonly id: string; readonly total_cents: number }[];
  /** The order that the cart belongs to. */
  readonly closedBy: string | null;
  readonly payments: readonly {
    readonly amountCents: number;
    readonly refundedCents: number;
    readonly state: string;
  }[];
  readonly refunds: readonly RefundRow[];
  /** The page that the shopper sees. */
  readonly page: string;
}

/** Reads the checkout's books, the shop's orders, and the bank's book. */
export async function readBooks(world: World, purchase: PlainPurchase): Promise<ShopBooks> {
  const { checkoutBooks } = world;
  const charges = await checkoutBooks.charges(purchase.cartId);
  const paper = await readPaper(world, purchase);
  const orders = paper.purchases.filter(({ state }) => orderStates.includes(state));
  if (orders.length > 1) throw new Error(`${orders.length} orders of one cart`);
  const [order] = orders;
  return {
    charges,
    purchases: paper.purchases.map(({ state }) => state),
    order: order ? { id: order.order_id, isCanceled: order.state === "canceled" } : null,
    bankCents: paper.payments
      .map(({ state, amountCents, refundedCents }) => (state === "authorized" ? amountCents - refundedCents : 0))
      .filter((cents) => cents > 0),
    check(outcome, expect) {
      checkPaper(paper, expect);
      if (order && outcome !== "whole") checkOrder(paper, order, purchase, outcome, expect);
      if (outcome === "part") checkPart(paper, purchase, expect);
    },
  };
}

function checkPaper({ payments, refunds }: Paper, expect: Expect): void {
  const owed = refunds.filter((refund) => refund.done_at === null);
  expect(owed.length === 0, `refunds of ${list(owed.map((refund) => refund.amount_cents))} aren't done`);
  // A shopper could still pay it, for nothing.
  const waiting = payments.filter(({ state }) => state === "open").map(({ amountCents }) => amountCents);
  expect(waiting.length === 0, `the bank still waits for ${list(waiting)}`);
}

function checkOrder(
  { orders, closedBy, page }: Paper,
  order: PurchaseRow,
  { totalCents, remainderCents }: PlainPurchase,
  outcome: Outcome,
  expect: Expect,
): void {
  const [total, remainder] = [Number(order.total_cents), Number(order.remainder_cents)];
  // Still paid if a unit was refunded, or if the cards' part was and the bank keeps the rest.
  const isPaid = outcome === "part" || (outcome === "refunded" && remainderCents > 0);
  const state = isPaid ? "paid" : outcome;
  expect(order.state === state, `the payment is ${order.state}, not ${state}`);
  expect(total === totalCents, `the payment's total is ${total}`);
  expect(remainder === remainderCents, `the payment's remainder is ${remainder}`);
  const placed = orders.find(({ id }) => id === order.order_id);
  expect(placed?.total_cents === totalCents, `the order's total is ${placed?.total_cents}`);
  expect(closedBy === order.order_id, "the cart belongs to another order, or is open");
  if (state === "paid") expect(page.includes("Your order is paid"), "the shopper isn't told of the paid order");
}

/** Each return is in the books once, and its shopper is told. */
function checkPart({ refunds, page }: Paper, purchase: PlainPurchase, expect: Expect): void {
  const returns = returnsOf(purchase);
  const written = refunds.map((row) => `${row.amount_cents} with ${row.remainder_cents}`);
  const right = returns.map(({ cardCents, otherCents }) => `${cardCents + otherCents} with ${otherCents}`);
  expect(list(written) === list(right), `the refunds are ${list(written)}, not ${list(right)}`);
  const card = `Gift card ending in ${purchase.cards[0]?.cardNumber.slice(-4)}`;
  for (const [name, cents] of [
    [card, sum(returns.map(({ cardCents }) => cardCents))],
    ["Bank", sum(returns.map(({ otherCents }) => otherCents))],
  ] as const) {
    const row = `Returned: ${name}</td><td>€${(cents / 100).toFixed(2)}<`;
    expect(cents === 0 || page.includes(row), `the shopper isn't told of ${cents} cents that went back`);
  }
}

async function readPaper(world: World, { cartId, visitor }: PlainPurchase): Promise<Paper> {
  const { orders: file, bank, checkoutBooks } = world;
  const orders = file.prepare("select id, total_cents from shop_order where cart_id = ?").all(cartId);
  const cart = file.prepare("select order_id from shop_cart where id = ?").get(cartId);
  const find = bank.book.prepare(
    `select amountCents, state, (select coalesce(sum(amountCents), 0) from refund where payment = payment.id)
       as refundedCents from payment where returnUrl like ?`,
  );
  const page = await visitor.open(`${world.url}/checkout`);
  return {
    purchases: await checkoutBooks.purchases(cartId),
    refunds: await checkoutBooks.refunds(cartId),
    orders: orders as unknown as Paper["orders"],
    closedBy: (cart?.order_id as string | null) ?? null,
    payments: orders.flatMap(({ id }) => find.all(`%/orders/${id}/return`)) as unknown as Paper["payments"],
    page: page.text,
  };
}
