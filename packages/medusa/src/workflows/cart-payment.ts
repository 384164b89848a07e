import { type CartView, CheckoutError } from "@giftcard-pay/checkout";
import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE, PROVIDER_ID } from "../names.js";

/** A payment session of the cart's collection, as far as the flow looks at it. */
export interface SessionView {
  readonly id: string;
  readonly provider_id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly metadata: Record<string, unknown> | null;
  readonly payment: { id: string; captured_at: string | null; canceled_at: string | null } | null;
}

/** A cart and its payment, read at the moment of the call. */
export interface CartPayment {
  readonly cart: CartView;
  /** Medusa's own total; it may hold fractions of a cent. */
  readonly rawTotal: BigNumberInput;
  readonly isEuro: boolean;
  readonly isCompleted: boolean;
  /** The providers that the cart's region enables. */
  readonly providerIds: readonly string[];
  readonly collectionId: string | null;
  /** Gift card sessions, which only the plugin makes. */
  readonly giftSessions: readonly SessionView[];
  /** Sessions of other methods that can still be authorized, or are. */
  readonly otherSessions: readonly SessionView[];
  /** Sessions that can't be paid by any more; Medusa would take one whose payment was undone for paid. */
  readonly deadSessions: readonly SessionView[];
}

const processable = ["pending", "requires_more", "authorized", "captured", "pending_authorization"];

const fields = [
  "id",
  "currency_code",
  "total",
  "raw_total",
  "completed_at",
  "region.payment_providers.id",
  "payment_collection.id",
  "payment_collection.payment_sessions.id",
  "payment_collection.payment_sessions.provider_id",
  "payment_collection.payment_sessions.status",
  "payment_collection.payment_sessions.amount",
  "payment_collection.payment_sessions.raw_amount",
  "payment_collection.payment_sessions.metadata",
  "payment_collection.payment_sessions.payment.id",
  "payment_collection.payment_sessions.payment.captured_at",
  "payment_collection.payment_sessions.payment.canceled_at",
];

interface SessionRow {
  id: string;
  provider_id: string;
  status: string;
  amount: BigNumberInput;
  raw_amount?: BigNumberInput;
  metadata?: Record<string, unknown> | null;
  payment?: { id: string; captured_at: string | null; canceled_at: string | null } | null;
}

interface CartRow {
  id: string;
  currency_code: string;
  total: BigNumberInput;
  raw_total?: BigNumberInput;
  completed_at?: string | Date | null;
  region?: { payment_providers?: ({ id: string } | null)[] } | null;
  payment_collection?: { id: string; payment_sessions?: (SessionRow | null)[] } | null;
}

/** @throws {CheckoutError} cart_not_found */
export async function readCartPayment(container: MedusaContainer, cartId: string): Promise<CartPayment> {
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({ entity: "cart", fields, filters: { id: cartId } });
  const row = data[0] as CartRow | undefined;
  if (!row) throw new CheckoutError("cart_not_found");
  const sessions = (row.payment_collection?.payment_sessions ?? []).flatMap((session) =>
    session ? [toSession(session)] : [],
  );
  const rawTotal = row.raw_total ?? row.total;
  const isDead = ({ status, payment }: SessionView) =>
    Boolean(payment?.canceled_at) || !processable.includes(status);
  return {
    cart: { id: row.id, totalCents: toCents(rawTotal), currency: row.currency_code },
    rawTotal,
    isEuro: String(row.currency_code).toLowerCase() === "eur",
    isCompleted: Boolean(row.completed_at),
    providerIds: (row.region?.payment_providers ?? []).flatMap((provider) => provider?.id ?? []),
    collectionId: row.payment_collection?.id ?? null,
    giftSessions: sessions.filter((s) => s.provider_id === PROVIDER_ID && !isDead(s)),
    otherSessions: sessions.filter((s) => s.provider_id !== PROVIDER_ID && !isDead(s)),
    deadSessions: sessions.filter(isDead),
  };
}

/** The order that the cart became, or several while processes complete it at once, which ends with one or none. */
export async function ordersOfCart(container: MedusaContainer, cartId: string): Promise<string[]> {
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({
    entity: "order_cart",
    fields: ["order_id"],
    filters: { cart_id: cartId },
  });
  return (data as { order_id: string }[]).map((row) => row.order_id);
}

function toSession(row: SessionRow): SessionView {
  const { id, provider_id, status, metadata, payment } = row;
  return {
    id,
    provider_id,
    status,
    metadata: metadata ?? null,
    amountCents: toCents(row.raw_amount ?? row.amount),
    payment: payment?.id ? payment : null,
  };
}

/**
 * The order that the cart became, if its payments, this session's among them, were all authorized, or may settle later
 * by the option; or null. A completion that died before that left an order that nobody paid.
 */
export async function paidOrderOfCart(
  container: MedusaContainer,
  cartId: string,
  sessionId: string,
): Promise<string | null> {
  const [orderId, ...others] = await ordersOfCart(container, cartId);
  if (!orderId || others.length > 0) return null;
  const { settings } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const { cart, giftSessions, otherSessions } = await readCartPayment(container, cartId);
  const isPaid = ({ payment, status }: SessionView) =>
    payment !== null || (settings.allowPendingRemainder && status === "pending_authorization");
  const paid = [...giftSessions, ...otherSessions].filter(isPaid);
  const paidCents = paid.reduce((sum, session) => sum + session.amountCents, 0);
  return paid.some((session) => session.id === sessionId) && paidCents >= cart.totalCents ? orderId : null;
}
