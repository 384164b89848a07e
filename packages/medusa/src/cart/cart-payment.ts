import { type CartView, CheckoutError } from "@giftcard-pay/checkout";
import type { Cents } from "@giftcard-pay/client";
import type { CartDTO, MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";
import { contextOf } from "../context/context.js";
import {
  type CartSessions,
  giftcardItemsOfCart,
  giftcardItemsOfOrder,
  ordersOfCart,
  processable,
  readCartSessions,
  readPlacedOrders,
  type SessionView,
} from "../medusa-tables/carts.js";
import { PLAN, PROVIDER_ID } from "../names.js";
import { readSoldLines, type SoldLine } from "./order-lines.js";

type Line = Pick<SoldLine, "id" | "total">;

export interface CartPayment {
  readonly cart: CartView;
  readonly isEuro: boolean;
  readonly isCompleted: boolean;
  /** Whether it is completed, but open in Medusa. Medusa opens a cart again when it voids a second order of it. */
  readonly isReopened: boolean;
  /** The lines of the cart, or of its order, that are gift cards, if no card may pay for them. */
  readonly giftcardItemIds: readonly string[];
  readonly collectionId: string | null;
  /** The plan that a page has last shown while the cards covered the cart. */
  readonly shownPlan: unknown;
  /** Gift card sessions. Only the plugin creates them. */
  readonly giftSessions: readonly SessionView[];
  /** Sessions of other methods that are authorized, or can still be. */
  readonly otherSessions: readonly SessionView[];
  /** Sessions that can't be paid any more. Medusa would take one whose payment was canceled or refunded for paid. */
  readonly deadSessions: readonly SessionView[];
}

/** Its lines have their totals, since the cart's own total is computed from them. */
type CartRow = CartDTO & { readonly completed_at?: unknown };

/** Reads a cart and its payment. @throws {CheckoutError} cart_not_found */
export async function readCartPayment(container: MedusaContainer, cartId: string): Promise<CartPayment> {
  const select = ["id", "currency_code", "completed_at", "metadata", "total", "raw_total"] as never[];
  const { sql, settings } = contextOf(container);
  const [carts, sessions, orderIds, giftcardItemIds] = await Promise.all([
    container.resolve(Modules.CART).listCarts({ id: cartId }, { select, take: 1 }),
    readCartSessions(sql, cartId),
    ordersOfCart(sql, cartId),
    settings.cardsBuyCards ? [] : giftcardItemsOfCart(sql, cartId),
  ]);
  const row = carts[0] as CartRow | undefined;
  if (!row) throw new CheckoutError("cart_not_found");
  const totalCents = toCents(row.raw_total ?? row.total);
  const isReopened = !row.completed_at && orderIds.length > 0;
  const isCompleted = isReopened || Boolean(row.completed_at);
  const due = {
    totalCents,
    currency: row.currency_code,
    isCompleted,
    giftcardItemIds,
    lines: row.items ?? [],
  };
  return { ...toCartPayment(cartId, due, sessions), isReopened, shownPlan: row.metadata?.[PLAN] };
}

/** Closes a cart as its completion had. If its order is deleted at this moment, the cart stays open. */
export async function closeCart(container: MedusaContainer, cartId: string): Promise<void> {
  const [now] = await contextOf(container).sql("select now() as now", []);
  await writeCompletedAt(container, cartId, now?.now);
  await openCart(container, cartId);
}

/** Opens a cart, unless it has an order. */
export async function openCart(container: MedusaContainer, cartId: string): Promise<void> {
  const orderIds = await ordersOfCart(contextOf(container).sql, cartId);
  if (orderIds.length === 0) await writeCompletedAt(container, cartId, null);
}

const writeCompletedAt = (container: MedusaContainer, cartId: string, completed_at: unknown) =>
  container.resolve(Modules.CART).updateCarts(cartId, { completed_at } as never);

/**
 * Reads a cart and its payment within a completion, with the cart's orders. Once the order is placed, its own total
 * counts, and the cart's isn't computed again.
 */
export async function readCompletion(container: MedusaContainer, cartId: string) {
  const { sql, settings } = contextOf(container);
  const [orders, sessions, giftcardItemIds] = await Promise.all([
    readPlacedOrders(sql, cartId),
    readCartSessions(sql, cartId),
    settings.cardsBuyCards ? [] : giftcardItemsOfOrder(sql, cartId),
  ]);
  const orderIds = orders.map((order) => order.order_id);
  const [placed] = orders;
  if (!placed?.raw_total || orders.length > 1) return { payment: await readCartPayment(container, cartId), orderIds };
  const { order_id: orderId, raw_total: total, currency_code: currency } = placed;
  const lines = giftcardItemIds.length > 0 ? await readSoldLines(container, orderId) : [];
  const due = { totalCents: toCents(total), currency, isCompleted: true, giftcardItemIds, lines };
  return { payment: toCartPayment(cartId, due, sessions), orderIds };
}

function toCartPayment(
  id: string,
  due: Pick<CartPayment, "isCompleted" | "giftcardItemIds"> & {
    totalCents: number;
    currency: string;
    lines: readonly Line[];
  },
  { collectionId, sessions }: CartSessions,
): CartPayment {
  const { totalCents, currency, isCompleted, giftcardItemIds, lines } = due;
  const giftcards = lines.filter((line) => giftcardItemIds.includes(line.id));
  const giftcardsCents = toCents(giftcards.reduce((sum, { total }) => MathBN.add(sum, total), MathBN.convert(0)));
  const isDead = ({ status, payment }: SessionView) => payment?.isOver || !processable.includes(status);
  return {
    cart: {
      id,
      totalCents: totalCents as Cents,
      currency,
      notByCardCents: Math.min(giftcardsCents, totalCents) as Cents,
    },
    isEuro: String(currency).toLowerCase() === "eur",
    isCompleted,
    isReopened: false,
    shownPlan: null,
    giftcardItemIds,
    collectionId,
    giftSessions: sessions.filter((s) => s.provider_id === PROVIDER_ID && !isDead(s)),
    otherSessions: sessions.filter((s) => s.provider_id !== PROVIDER_ID && !isDead(s)),
    deadSessions: sessions.filter(isDead),
  };
}
