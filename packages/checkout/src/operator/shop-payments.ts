import type { ShopPayment } from "./charge-groups.js";

/** The shop's own payments by gift card. */
export type PaymentList = Iterable<ShopPayment> | AsyncIterable<ShopPayment>;

/** Which of its payments a shop is asked for: all of one of the three kinds, each once. */
export interface PaymentQuery {
  /** Those made at or after this moment ... */
  readonly from: Date;
  /** ... and before this one. */
  readonly to: Date;
  /** Those of these orders, whenever they were made. */
  readonly orderIds: readonly string[];
  /** Those of these charges, whenever they were made; of no matter to a shop that has one sum per order. */
  readonly externalIds: readonly string[];
}

/**
 * Lists the shop's payments. It is asked often: once for all that were made within the days, best given one by one as they
 * are read, and else for those of some hundred charges and their orders. What differs is asked for again a second later,
 * and what changed in between was only moving. It may list more than it is asked for; that takes time.
 */
export type PaymentLister = (query: PaymentQuery) => PaymentList | Promise<PaymentList>;

/** Lists what a shop gives as a function or as a list; one that can be gone through only once is kept. */
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
      : [
          ...externalIds.flatMap((id) => ofCharges.get(id) ?? []),
          ...orderIds.flatMap((id) => ofOrders.get(id) ?? []),
        ];
}

/** Which charges and orders payments are asked for. */
export interface Asked {
  readonly externalIds: Iterable<string>;
  readonly orderIds: Iterable<string | null>;
}

/** The shop's payments of these charges and orders, and no others. */
export async function paymentsOf(list: PaymentLister, asked: Asked): Promise<ShopPayment[]> {
  const [externalIds, orderIds] = [new Set(asked.externalIds), new Set(asked.orderIds)];
  orderIds.delete(null);
  if (externalIds.size + orderIds.size === 0) return [];
  // No moment lies between these two.
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

/** All that were made between two moments, and whatever else the shop lists then, some at a time. */
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
