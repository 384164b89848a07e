import type { ShopPayment } from "./charge-groups.js";

/** The shop's own gift card payments. */
export type PaymentList = Iterable<ShopPayment> | AsyncIterable<ShopPayment>;

/** A query of payments, by exactly one of the three: the period, orders, or charges. Each payment is listed once. */
export interface PaymentQuery {
  /** Payments made at or after this time ... */
  readonly from: Date;
  /** ... and before this time. */
  readonly to: Date;
  /** Payments of these orders, made at any time. */
  readonly orderIds: readonly string[];
  /** Payments of these charges, made at any time. Irrelevant for a shop with one payment per order. */
  readonly externalIds: readonly string[];
}

/**
 * Lists the shop's payments. It is called many times: once for the whole period, ideally returning an async iterable, and
 * otherwise for some hundred charges and their orders. Payments that differ are queried again a second later, to recognize
 * those that were only moving. Additional payments in a result are ignored, but take time.
 */
export type PaymentLister = (query: PaymentQuery) => PaymentList | Promise<PaymentList>;

/** Returns a lister for a function or a list. Iterables are read into memory. */
export async function listerOf(payments: PaymentList | PaymentLister): Promise<PaymentLister> {
  if (typeof payments === "function") return payments;
  const all = await toArray(payments);
  const ofCharges = new Map<string, ShopPayment[]>();
  const ofOrders = new Map<string | null, ShopPayment[]>();
  for (const payment of all) {
    const { externalId, orderId } = payment;
    if (externalId === undefined) ofOrders.set(orderId, [...(ofOrders.get(orderId) ?? []), payment]);
    else ofCharges.set(externalId, [...(ofCharges.get(externalId) ?? []), payment]);
  }
  return ({ externalIds, orderIds }) =>
    externalIds.length === 0 && orderIds.length === 0
      ? all
      : [...externalIds.flatMap((id) => ofCharges.get(id) ?? []), ...orderIds.flatMap((id) => ofOrders.get(id) ?? [])];
}

/** The charges and orders of a query. */
export interface Asked {
  readonly externalIds: Iterable<string>;
  readonly orderIds: Iterable<string | null>;
}

/** Returns the shop's payments of exactly these charges and orders. */
export async function paymentsOf(list: PaymentLister, asked: Asked): Promise<ShopPayment[]> {
  const [externalIds, orderIds] = [new Set(asked.externalIds), new Set(asked.orderIds)];
  orderIds.delete(null);
  if (externalIds.size + orderIds.size === 0) return [];
  // An empty period.
  const never = new Date(0);
  const listed = await list({
    from: never,
    to: never,
    externalIds: [...externalIds],
    orderIds: [...orderIds] as string[],
  });
  const found: ShopPayment[] = [];
  for await (const payment of listed) {
    const { externalId, orderId } = payment;
    if (externalId === undefined ? orderIds.has(orderId) : externalIds.has(externalId)) found.push(payment);
  }
  return found;
}

/** Yields the payments of a period in batches, including any others that the shop lists. */
export async function* paymentsBetween(
  list: PaymentLister,
  moments: { from: Date; to: Date },
  atOnce: number,
): AsyncGenerator<ShopPayment[]> {
  let batch: ShopPayment[] = [];
  for await (const payment of await list({ ...moments, externalIds: [], orderIds: [] })) {
    batch.push(payment);
    if (batch.length < atOnce) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function toArray(payments: PaymentList): Promise<ShopPayment[]> {
  const all: ShopPayment[] = [];
  for await (const payment of payments) all.push(payment);
  return all;
}
