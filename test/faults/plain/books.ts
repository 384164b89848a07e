import { list } from "../books.js";
import type { Expect, Outcome, ShopBooks } from "../verdict.js";
import type { PurchaseRow } from "./checkout-books.js";
import type { PlainPurchase } from "./purchase.js";
import type { World } from "./world.js";

const openStates = ["charging", "pending", "voiding", "reversing", "refunding"];
const orderStates = ["paid", "reversing", "reversed", "refunding", "refunded"];

/** What the shop and the bank wrote down about one cart. */
interface Paper {
  readonly purchases: readonly PurchaseRow[];
  readonly orders: readonly { readonly id: string; readonly total_cents: number }[];
  /** The order that the cart belongs to. */
  readonly closedBy: string | null;
  readonly payments: readonly { readonly amountCents: number; readonly state: string }[];
  /** What the shopper sees. */
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
    order: order ? { id: order.order_id, isCanceled: order.state === "reversed" } : null,
    bankCents: paper.payments
      .filter(({ state }) => state === "authorized")
      .map((payment) => payment.amountCents),
    check(outcome, expect) {
      checkPaper(paper, expect);
      if (order && outcome !== "whole") checkOrder(paper, order, purchase, outcome, expect);
    },
  };
}

function checkPaper({ purchases, payments }: Paper, expect: Expect): void {
  const open = purchases.filter(({ state }) => openStates.includes(state)).map(({ state }) => state);
  expect(open.length === 0, `a payment is ${list(open)}`);
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
  // The cards' part is back, and the bank keeps the rest: that is paid still.
  const state = outcome === "refunded" && remainderCents > 0 ? "paid" : outcome;
  expect(order.state === state, `the payment is ${order.state}, not ${state}`);
  expect(total === totalCents, `the payment's total is ${total}`);
  expect(remainder === remainderCents, `the payment's remainder is ${remainder}`);
  const placed = orders.find(({ id }) => id === order.order_id);
  expect(placed?.total_cents === totalCents, `the order's total is ${placed?.total_cents}`);
  expect(closedBy === order.order_id, "the cart belongs to another order, or is open");
  if (outcome === "paid")
    expect(page.includes("Your order is paid"), "the shopper isn't told of the paid order");
}

async function readPaper(world: World, { cartId, visitor }: PlainPurchase): Promise<Paper> {
  const { orders: file, bank, checkoutBooks } = world;
  const orders = file.prepare("select id, total_cents from shop_order where cart_id = ?").all(cartId);
  const cart = file.prepare("select order_id from shop_cart where id = ?").get(cartId);
  const find = bank.book.prepare("select amountCents, state from payment where returnUrl like ?");
  const page = await visitor.open(`${world.url}/checkout`);
  return {
    purchases: await checkoutBooks.purchases(cartId),
    orders: orders as unknown as Paper["orders"],
    closedBy: (cart?.order_id as string | null) ?? null,
    payments: orders.flatMap(({ id }) => find.all(`%/orders/${id}/return`)) as unknown as Paper["payments"],
    page: page.text,
  };
}
