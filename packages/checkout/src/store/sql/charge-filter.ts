import type { ChargeFilter, ChargeMatch } from "../charge.js";
import type { Database } from "./database.js";

/** Builds the condition of a filter of charges. @param p adds a parameter */
export function conditionOf(filter: ChargeFilter, database: Database, p: (value: unknown) => string): string {
  const { states, orderIds, externalIds, from, to, moved, environment, companyId, anyOf } = filter;
  const where = ["true"];
  if (states) where.push(`state ${database.anyOf(p(states))}`);
  if (orderIds) where.push(`order_id ${database.anyOf(p(orderIds))}`);
  if (externalIds) where.push(`external_id ${database.anyOf(p(externalIds))}`);
  if (from) where.push(`created_at >= ${p(from)}`);
  if (to) where.push(`created_at < ${p(to)}`);
  if (environment !== undefined) where.push(`environment = ${p(environment)}`);
  if (companyId !== undefined) where.push(`company_id = ${p(companyId)}`);
  if (moved) {
    const within = (column: string) => `${column} >= ${p(moved.from)} and ${column} < ${p(moved.to)}`;
    where.push(`(${within("coalesce(devalued_at, sent_at)")} or ${within("reversed_at")})`);
  }
  if (anyOf) where.push(`(${matchOf(anyOf, database, p)})`);
  return where.join(" and ");
}

/** Builds the condition of the first charges of all payments with a charge that a filter matches. */
export function paymentsOf(filter: ChargeFilter, database: Database, p: (value: unknown) => string): string {
  const condition = conditionOf(filter, database, p);
  // The charges of a payment differ in nothing else that a filter asks for.
  const differ = filter.states ?? filter.moved ?? filter.anyOf;
  const any = `exists (select 1 from giftcard_charge part where part.external_id = giftcard_charge.external_id and ${condition})`;
  return `position = 1 and ${differ ? any : condition}`;
}

/** Builds the condition of a search. Each of its parts has an index. */
function matchOf(match: ChargeMatch, database: Database, p: (value: unknown) => string): string {
  const { reference, lastFour, orderIds, cartIds, amountCents } = match;
  const any = ["false"];
  if (reference !== undefined) any.push(`reference = ${p(reference)}`);
  if (lastFour !== undefined) any.push(`last_four = ${p(lastFour)}`);
  if (orderIds) any.push(`order_id ${database.anyOf(p(orderIds))}`);
  if (cartIds) any.push(`cart_id ${database.anyOf(p(cartIds))}`);
  if (amountCents !== undefined)
    any.push(`amount_cents = ${p(amountCents)}`, `external_id ${database.among(paymentsOfSum(p(amountCents)))}`);
  return any.join(" or ");
}

/** Selects the payments of several charges that are this much together. */
const paymentsOfSum = (cents: string) => `select external_id from giftcard_charge
  where external_id in (select external_id from giftcard_charge where position = 2)
  group by external_id having sum(amount_cents) = cast(${cents} as bigint)`;

/** The orders of a list of charges. */
export const sortings = {
  attention: "state = 'needs_attention' desc, created_at desc, position desc, reference",
  newest: "created_at desc, position desc, reference desc",
  oldest: "created_at, position, reference",
} as const;
