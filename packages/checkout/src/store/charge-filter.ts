import type { ChargeFilter, ChargeMatch } from "./charge.js";

/** Adds parameters to a statement. Each function returns a text for the statement, as its database writes it. */
export interface Binder {
  readonly one: (value: string | number | Date) => string;
  /** Compares with several texts. */
  readonly anyOf: (texts: readonly string[]) => string;
  /** Compares with the rows of a subquery, which is evaluated once. */
  readonly among: (select: string) => string;
}

/** Builds the condition of a filter of charges. */
export function conditionOf(filter: ChargeFilter, binder: Binder): string {
  const { states, orderIds, externalIds, from, to, moved, environment, companyId, anyOf } = filter;
  const { one } = binder;
  const where = ["true"];
  if (states) where.push(`state ${binder.anyOf(states)}`);
  if (orderIds) where.push(`order_id ${binder.anyOf(orderIds)}`);
  if (externalIds) where.push(`external_id ${binder.anyOf(externalIds)}`);
  if (from) where.push(`created_at >= ${one(from)}`);
  if (to) where.push(`created_at < ${one(to)}`);
  if (environment !== undefined) where.push(`environment = ${one(environment)}`);
  if (companyId !== undefined) where.push(`company_id = ${one(companyId)}`);
  if (moved) {
    const within = (column: string) => `${column} >= ${one(moved.from)} and ${column} < ${one(moved.to)}`;
    where.push(`(${within("coalesce(devalued_at, sent_at)")} or ${within("reversed_at")})`);
  }
  if (anyOf) where.push(`(${matchOf(anyOf, binder)})`);
  return where.join(" and ");
}

/** Builds the condition of a search. Each of its parts has an index. */
function matchOf(match: ChargeMatch, binder: Binder): string {
  const { reference, lastFour, orderIds, cartIds, amountCents } = match;
  const { one } = binder;
  const any = ["false"];
  if (reference !== undefined) any.push(`reference = ${one(reference)}`);
  if (lastFour !== undefined) any.push(`last_four = ${one(lastFour)}`);
  if (orderIds) any.push(`order_id ${binder.anyOf(orderIds)}`);
  if (cartIds) any.push(`cart_id ${binder.anyOf(cartIds)}`);
  if (amountCents !== undefined)
    any.push(`amount_cents = ${one(amountCents)}`, `external_id ${binder.among(paymentsOf(one(amountCents)))}`);
  return any.join(" or ");
}

/** Selects the payments of several charges that are this much together. */
const paymentsOf = (cents: string) => `select external_id from giftcard_charge
  where external_id in (select external_id from giftcard_charge where position = 2)
  group by external_id having sum(amount_cents) = cast(${cents} as bigint)`;

/** The orders of a list of charges. */
export const sortings = {
  attention: "state = 'needs_attention' desc, created_at desc, position desc, reference",
  newest: "created_at desc, position desc, reference desc",
  oldest: "created_at, position, reference",
} as const;
