import {
  type BookedCharge,
  bookedChargeOf,
  cardMovementsOf,
  readAnyCharges,
  type Sql,
} from "@giftcard-pay/checkout/plugin";
import type { Charge, ChargeFilter, Journal } from "@giftcard-pay/checkout/store";
import {
  type OrderDates,
  type Period,
  readBookable,
  readOrderDates,
  readOrderlessMoves,
} from "../medusa-tables/booked-orders.js";
import { type RefundableOrder, readRefundables } from "../medusa-tables/order-refund.js";
import { orderNamesOf } from "../medusa-tables/orders.js";
import { readCancelRefunds } from "../medusa-tables/payments.js";
import { PROVIDER_ID } from "../names.js";
import { historyOf } from "../refunds/kept-units.js";
import { backOf, linesAsPlaced, valuer } from "../refunds/kept-value.js";
import { type MoneyMove, type Movement, movementsOf } from "./order-movements.js";
import { type SaleEvent, salesOf } from "./order-sales.js";
import type { ByRate } from "./vat.js";

/** The tables that an export reads. */
export interface BookedSource {
  readonly sql: Sql;
  readonly journal: Journal;
}

const CHARGES = 500;

/** Reads what happened to some hundred orders in a period, in the order of the ids. */
export async function readOrderMovements(
  { sql, journal }: BookedSource,
  orderIds: readonly string[],
  period: Period,
): Promise<Movement[]> {
  const orders = new Map((await readRefundables(sql, orderIds)).map((order) => [order.orderId, order]));
  const dates = new Map((await readOrderDates(sql, orderIds)).map((order) => [order.orderId, order]));
  const sessionIds = [...orders.values()].flatMap(({ payments }) =>
    payments.flatMap(({ isGiftcard, sessionId }) => (isGiftcard ? [sessionId] : [])),
  );
  const bySession = await readAllCharges(journal, { externalIds: sessionIds });
  const byOrder = await readAllCharges(journal, { orderIds });
  const moves = await toMoneyMoves(sql, byOrder);
  return orderIds.flatMap((orderId) => {
    const [order, dated] = [orders.get(orderId), dates.get(orderId)];
    // It was deleted meanwhile.
    if (!order || !dated) return [];
    const own = order.payments.map(({ sessionId }) => sessionId);
    const charges = bySession.filter(({ externalId }) => own.includes(externalId));
    return movementsOf(
      {
        ...{ orderId, orderName: order.orderName },
        steps: stepsOf(order, dated, charges),
        moves: [...(moves.get(orderId) ?? []), ...otherMovesOf(dated)],
      },
      period,
    );
  });
}

async function readAllCharges(journal: Journal, filter: ChargeFilter): Promise<Charge[]> {
  if ((filter.orderIds ?? filter.externalIds ?? []).length === 0) return [];
  const all: Charge[] = [];
  for (;;) {
    const page = await journal.readPage(filter, all.at(-1)?.reference ?? "", CHARGES);
    all.push(...page);
    if (page.length < CHARGES) return all;
  }
}

const EVER = { from: new Date(0), to: new Date(8.64e15) };

/** Lists what charges took from cards and returned to them, by order; by "" without one. */
async function toMoneyMoves(sql: Sql, charges: readonly Charge[]): Promise<Map<string, MoneyMove[]>> {
  const refundIds = charges.flatMap(({ refundId }) => refundId ?? []);
  const cancelRefunds = refundIds.length > 0 ? await readCancelRefunds(sql, refundIds) : new Set<string>();
  const moves = new Map<string, MoneyMove[]>();
  const booked: BookedCharge[] = charges.map(bookedChargeOf);
  for (const { orderId, at, lastFour, kind, cents, isRefund, refundId } of booked.flatMap((charge) =>
    cardMovementsOf(charge, EVER.from, EVER.to),
  )) {
    const isCancel = kind === "canceled" && (!isRefund || (refundId !== null && cancelRefunds.has(refundId)));
    const move = { at, lastFour, providerId: PROVIDER_ID, cents: kind === "devalued" ? cents : -cents, isCancel };
    moves.set(orderId ?? "", [...(moves.get(orderId ?? "") ?? []), move]);
  }
  return moves;
}

/**
 * Reads the money that belongs to no order of the period: charges of purchases that failed or got their order later, and
 * payments without an order. Those that were undone on the same day add up to nothing.
 */
export async function* readOrderlessMovements(
  { sql, journal }: BookedSource,
  period: Period,
): AsyncGenerator<Movement> {
  for await (const page of readAnyCharges(journal, { moved: period })) {
    const orderIds = page.flatMap(({ orderId }) => orderId ?? []);
    const bookable = await readBookable(sql, period, orderIds);
    const orderless = page.filter(({ orderId }) => orderId === null || !bookable.has(orderId));
    const names = await orderNamesOf(sql, orderless);
    for (const externalId of new Set(orderless.map((charge) => charge.externalId))) {
      const charges = orderless.filter((charge) => charge.externalId === externalId);
      const moves = [...(await toMoneyMoves(sql, charges)).values()].flat();
      const orderId = charges[0]?.orderId ?? null;
      const orderName = (orderId !== null && names[orderId]) || null;
      yield* movementsOf({ orderId, orderName, steps: [], moves }, period);
    }
  }
  for (const { providerId, at, cents } of await readOrderlessMoves(sql, period)) {
    const moves = [{ at, lastFour: null, providerId, cents, isCancel: false }];
    yield* movementsOf({ orderId: null, orderName: null, steps: [], moves }, period);
  }
}

/** Lists the captures and refunds of other methods. */
const otherMovesOf = ({ payments }: OrderDates): MoneyMove[] =>
  payments
    .filter(({ providerId }) => providerId !== PROVIDER_ID)
    .flatMap(({ providerId, captures, refunds }) => [
      ...captures.map(({ at, cents }) => ({ ...toMove(providerId, at, cents), isCancel: false })),
      ...refunds.map(({ at, cents, isCancel }) => ({ ...toMove(providerId, at, -cents), isCancel })),
    ]);

const toMove = (providerId: string, at: string, cents: number) => ({
  at: new Date(at),
  lastFour: null,
  providerId,
  cents,
});

/** Lists how the value of an order changes in the books. */
function stepsOf(order: RefundableOrder, dates: OrderDates, charges: readonly Charge[]) {
  const now = order.items.map((item) => historyOf(item, order.refunds));
  const lines = order.lines ?? linesAsPlaced(now, order.placedCents);
  const rates = new Map(order.items.map(({ id, vatPercent }) => [id, vatPercent]));
  const toRates = (byItem: Iterable<[string, number]>): ByRate => {
    const sums = new Map<string, number>();
    for (const [id, cents] of byItem) {
      const rate = rates.get(id) ?? "0";
      sums.set(rate, (sums.get(rate) ?? 0) + cents);
    }
    return sums;
  };
  return salesOf({
    placedAt: dates.placedAt,
    placed: toRates(lines.map(({ id, totalCents }) => [id, totalCents])),
    keptAt: (at) => {
      const items = order.items.map((item) => historyOf(item, order.refunds, at));
      return toRates(valuer({ items, lines }, charges).keptByItem(backOf(items)));
    },
    events: eventsOf(order, dates),
  });
}

function eventsOf(order: RefundableOrder, { payments, canceledAt }: OrderDates): SaleEvent[] {
  const changes = order.items.flatMap(({ versions, removedAt }) => [
    ...versions.filter(({ isPlaced }) => !isPlaced).map(({ createdAt }) => createdAt),
    ...(removedAt === null ? [] : [removedAt]),
  ]);
  const ahead = new Map(order.refunds.map(({ id, aheadCents }) => [id, aheadCents]));
  return [
    ...[...new Set(changes)].map((at) => ({ kind: "change", at }) as const),
    ...payments.flatMap((payment) => paidOf(payment)),
    ...payments.flatMap(({ refunds }) =>
      refunds.map(({ id, at, cents, isCancel }) => {
        return { kind: "refund", at, cents, isCancel, aheadCents: ahead.get(id) ?? 0 } as const;
      }),
    ),
    ...(canceledAt === null ? [] : [{ kind: "cancellation", at: canceledAt } as const]),
  ];
}

/** A card has paid once it is charged, any other method once it is captured. */
function paidOf({ providerId, isCanceled, amountCents, authorizedAt, captures }: OrderDates["payments"][number]) {
  const isCard = providerId === PROVIDER_ID;
  if (isCard && isCanceled) return [];
  const paid = isCard ? [{ at: authorizedAt, cents: amountCents }] : captures;
  return paid.map(({ at, cents }) => ({ kind: "paid", at, cents }) as const);
}
