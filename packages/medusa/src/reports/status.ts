import { createSqlJournal, type Sql } from "@giftcard-pay/checkout/plugin";
import { uncapturedStates } from "@giftcard-pay/checkout/store";
import { paidOrderOf, wasPaid } from "../completion/paid-orders.js";
import { OPEN_RELEASES, sumByState } from "../journal-tables/charges.js";
import { type OrderPayment, readOrderPayments } from "../medusa-tables/order-payment.js";
import { everyScanPage, type Scan } from "../medusa-tables/scan.js";
import { PENDING_REMAINDERS, type UnpaidOrder } from "../medusa-tables/unpaid-orders.js";
import type { readRecoverySettings } from "../options.js";
import { type JobKind, readExemptJobs } from "../recovery/failing-jobs.js";
import { isExempt, readCancelStop } from "../recovery/pending-cancellations.js";
import { recoveryJobs, unpaidOrderFinders } from "../recovery/recovery-jobs.js";
import { whyNotCanceled } from "../recovery/unpaid-orders.js";
import { readRows } from "../rows.js";
import { sentencesOf } from "../sentences.js";

/** The contents of the gift card tables: the open work, recovery's next actions, and finished work. */
export type Status = Awaited<ReturnType<typeof readStatus>>;

/** The open work, by kind. As long as there is any, removing the tables would lose track of money. */
const OPEN_WORK = `select (${PENDING_REMAINDERS})::integer as "pendingRemainders",
  (select count(*) from giftcard_unpaid_order where exempted_at is null and canceled_at is null)::integer as "unpaidOrders",
  (${OPEN_RELEASES})::integer as releases,
  (select count(*) from giftcard_job where exempted_at is null)::integer as "failingJobs"`;

/** People's decisions, and cards on carts that aren't ordered: nothing was taken from them. */
const STAYS = `select ((select count(*) from giftcard_action)
    + (select count(*) from giftcard_unpaid_order where exempted_at is not null)
    + (select count(*) from giftcard_job where exempted_at is not null))::integer as decisions,
  (select count(*) from giftcard_tender where state = 'applied')::integer as "appliedCards"`;

/** Reads the open work, and what recovery would do now. Changes nothing and calls nobody. */
export async function readStatus(sql: Sql, settings: ReturnType<typeof readRecoverySettings>) {
  const [work] = await readRows<Record<"pendingRemainders" | "unpaidOrders" | "releases" | "failingJobs", number>>(
    sql,
    OPEN_WORK,
    [],
  );
  const [stays] = await readRows<{ decisions: number; appliedCards: number }>(sql, STAYS, []);
  if (!work || !stays) throw new TypeError("A count has no rows.");
  const byState = await sumByState(sql);
  const { captured = { count: 0, cents: 0 } } = byState;
  const isOpen = ([state]: [string, unknown]) => uncapturedStates.some((open) => open === state);
  const charges = Object.fromEntries(Object.entries(byState).filter(isOpen));
  const openJobs = Object.values(work).reduce((sum, count) => sum + count, 0);
  return {
    open: { charges, ...work },
    next: await planRecovery(sql, settings),
    // Without the tables, a later refund can't reach the card of a captured charge.
    stays: { captured, ...stays },
    isEmpty: Object.keys(charges).length === 0 && openJobs === 0,
  };
}

async function planRecovery(sql: Sql, settings: ReturnType<typeof readRecoverySettings>) {
  const scan: Scan = { sql, ...settings, after: "", only: null };
  const jobs = new Map<string, { kind: JobKind; id: string; orderId: string | null }>();
  for (const { kind, finders } of recoveryJobs.filter((job) => job.kind !== "cancel_order")) {
    const exempt = await readExemptJobs(sql, kind);
    for (const find of finders) {
      for (const { id, orderId } of await everyScanPage(scan, find))
        if (!exempt.has(id)) jobs.set(`${kind} ${id}`, { kind, id, orderId });
    }
  }
  return {
    charges: await planCharges(sql, settings.allowPromisedRemainder),
    orders: await planOrders(scan),
    jobs: [...jobs.values()],
    maxCancelsPerRun: settings.maxCancelsPerRun,
    cancelStop: await readCancelStop(sql),
  };
}

/** Plans the charges that are due: nothing was sent, they are settled by their key, committed to their order, or reversed. */
async function planCharges(sql: Sql, mayBePending: boolean) {
  const journal = createSqlJournal(sql);
  const charges = [];
  for (let due = await journal.nextDue(""); due; due = await journal.nextDue(due.reference)) {
    const { reference, state, cartId, orderId, externalId, amountCents } = due;
    const paid = state === "devalued" ? await paidOrderOf(sql, { cartId, externalId }, mayBePending) : null;
    const isSent = state === "sent" || state === "unknown";
    const next = state === "intent" ? "void" : isSent ? "settle" : "reverse";
    const planned = { reference, state, cartId, amountCents, orderId: paid ?? orderId };
    charges.push({ ...planned, next: paid === null ? next : "commit" });
  }
  return charges;
}

async function planOrders(scan: Scan) {
  const found = new Map<string, UnpaidOrder>();
  for (const find of unpaidOrderFinders) {
    for (const order of await find(scan)) {
      // A broken promise to pay later stays broken.
      if ((found.get(order.orderId)?.reason ?? "unpaid") === "unpaid") found.set(order.orderId, order);
    }
  }
  const payments = await readOrderPayments(scan.sql, [...found.keys()]);
  const exemptJobs = await readExemptJobs(scan.sql, "cancel_order");
  const plans = [];
  for (const payment of payments) {
    const order = found.get(payment.orderId) as UnpaidOrder;
    const isLeft = exemptJobs.has(order.orderId) || (await isExempt(scan.sql, order.orderId));
    plans.push(planOrder(order, payment, isLeft));
  }
  return plans;
}

/** Plans an order with open work: recovery cancels it, reverses a charge, leaves it to a person, or does nothing. */
function planOrder(order: UnpaidOrder, payment: OrderPayment, isLeft: boolean) {
  const plan = (next: "cancel" | "person" | "reverse" | "nothing", why: string) => ({ ...order, next, why });
  if (isLeft) return plan("nothing", "a person has exempted it");
  if (payment.paidAt !== null) return plan("nothing", "it was paid");
  if (payment.isCanceled) {
    const isOver = payment.heldPayments.length === 0 && payment.openSessionIds.length === 0;
    return isOver ? plan("nothing", "it is canceled") : plan("reverse", "it is canceled, but payments remain");
  }
  if (wasPaid(payment, order.reason === "unpaid")) return plan("nothing", "it is paid, or will be");
  const why = whyNotCanceled(payment);
  if (why.length > 0) return plan("person", sentencesOf(why));
  return plan("cancel", order.reason === "unpaid" ? "nobody paid it" : order.reason.replaceAll("_", " "));
}
