import type { Move } from "../charge.js";
import { livingStates } from "../charge-states.js";
import { onCartStates } from "../tender.js";
import { type Database, newParams, type Part, type Statement } from "./database.js";
import { momentOf, sqlList } from "./rows.js";

/** The condition that a tender has an open charge. */
export const isCharged = (tender: string) =>
  `exists (select 1 from giftcard_charge living
    where living.tender_id = ${tender}.id and living.state in (${sqlList(livingStates)}))`;

/** The amount that the other charges of the payment took, which was on the card too. */
const takenBeside = `coalesce((select sum(beside.deducted_cents) from giftcard_charge beside
  where beside.external_id = charge.external_id and beside.position <> charge.position), 0)`;

/** A devalue that took less than requested took the whole balance. Once reversed, that is the balance again. */
const lessThanAsked = `, balance_cents = case when charge.deducted_cents < charge.amount_cents
  then charge.deducted_cents + ${takenBeside} else giftcard_tender.balance_cents end`;

/**
 * Builds a write that changes one or more charges of a tender, and the tender with them, so that they can't get out of step.
 *
 * @param also adds further parts to the write, which read the changed row from `charge`
 */
export function moveWrite(
  { ms, anyOf, forUpdate, sequence }: Database,
  references: readonly string[],
  move: Move,
  also: (param: (value: unknown) => string) => Part[] = () => [],
): [parts: Part[], result: string, params: unknown[]] {
  const { params, p } = newParams();
  const target = p(references);
  const to = p(move.to);
  const changedAt = `state_changed_at = case when state = ${to} then state_changed_at else now() end`;
  const sets = [`state = ${to}`, changedAt, "updated_at = now()"];
  if (move.orderId !== undefined) sets.push(`order_id = ${p(move.orderId)}`);
  if (move.deductedCents !== undefined) sets.push(`deducted_cents = ${p(move.deductedCents)}`);
  if (move.sealedCard === null) sets.push("sealed_card = null");
  if (move.sealedToken !== undefined) sets.push(`sealed_token = ${p(move.sealedToken)}`);
  if (move.reason !== undefined) sets.push(`reason = ${p(move.reason)}`);
  if (move.refundId !== undefined) sets.push(`refund_id = ${p(move.refundId)}`);
  if (move.balanceAfterCents !== undefined) {
    sets.push(`balance_after_cents = ${p(move.balanceAfterCents)}`, "balance_after_at = now()");
  }
  if (move.lease === null) sets.push("lease_owner = null", "lease_until = null");
  else if (move.lease) {
    sets.push(`lease_owner = ${p(move.lease.owner)}`, `lease_until = now() + ${ms(p(move.lease.forMs))}`);
  }
  if (move.retryInMs !== undefined) sets.push(`next_try_at = now() + ${ms(p(move.retryInMs))}`);
  if (move.lastError !== undefined) sets.push("tries = tries + 1", `last_error = ${p(move.lastError)}`);
  else if (!move.from.includes(move.to)) sets.push("last_error = null");
  const moment = momentOf[move.to];
  if (moment) sets.push(`${moment} = coalesce(${moment}, now())`);
  const owner = move.owner === undefined ? "" : `and lease_owner = ${p(move.owner)}`;
  const refund =
    move.refundIdWas === undefined ? "" : `and refund_id is not distinct from cast(${p(move.refundIdWas)} as text)`;
  const canChange = `reference ${anyOf(target)} and state in (${sqlList(move.from)}) ${owner} ${refund}`;
  // The condition is checked again after locking all rows, so that either all of them change or none.
  const locked = `select reference from giftcard_charge where ${canChange} order by reference ${forUpdate}`;
  const isAll = `(select count(*) from locked) = ${references.length}`;
  const [lock, together] = references.length > 1 ? [[{ name: "locked", text: locked }], `and ${isAll}`] : [[], ""];
  const change = `update giftcard_charge set ${sets.join(", ")} where ${canChange} ${together}`;
  const tender = followTender(move, p, sequence).map((text) => ({ name: "tender", table: "giftcard_tender", text }));
  const parts = [...lock, { name: "charge", table: "giftcard_charge", text: change }, ...tender, ...also(p)];
  return [parts, "select * from charge", params];
}

/**
 * Reads charges as a move has written them: all of them, or none. The owner of a lease is unique to its caller. Without a lease,
 * a concurrent caller may have made the same move: then both believe that they made it, and what they do next is idempotent.
 *
 * @param also a further condition
 */
export function movedCharges(
  { anyOf }: Database,
  references: readonly string[],
  { to, orderId, lease, refundId }: Move,
  also: (param: (value: unknown) => string) => string = () => "true",
): Statement {
  const { params, p } = newParams();
  const where = [`reference ${anyOf(p(references))}`, `state = ${p(to)}`, also(p)];
  const isSame = (column: string, value: string | null | undefined) =>
    value !== undefined && where.push(`${column} is not distinct from cast(${p(value)} as text)`);
  isSame("order_id", orderId);
  isSame("refund_id", refundId);
  isSame("lease_owner", lease === null ? null : lease?.owner);
  return [
    `with moved as (select * from giftcard_charge where ${where.join(" and ")})
     select * from moved where (select count(*) from moved) = ${references.length}`,
    params,
  ];
}

/** Returns the change of the card's known balance once its charge is settled. */
function balanceAfter({ reason, to }: Move): string {
  if (reason === "card_no_balance") return `, balance_cents = ${takenBeside}`;
  return to === "reversed" ? lessThanAsked : "";
}

/** Builds the statement that changes the charge's tender, if the move does. */
function followTender(move: Move, p: (value: unknown) => string, sequence: string): string[] {
  const update = (set: string, where: string) => [
    `update giftcard_tender set ${set}, updated_at = now()
     from charge where giftcard_tender.id = charge.tender_id and ${where}`,
  ];
  const isCharging = "giftcard_tender.state = 'charging'";
  if (move.to === "committed") return update("state = 'spent'", isCharging);
  const isPaidWith = "giftcard_tender.state in ('charging', 'spent')";
  if (move.to === "taken") return update("state = 'spent', sealed_card = null", isPaidWith);
  if (move.to === "captured")
    return update("sealed_card = null", `${isPaidWith} and giftcard_tender.sealed_card is not null`);
  const isSettled = move.to === "refused" || move.to === "reversed";
  if (!isSettled && !move.restore) return [];
  const state = `state = '${isSettled ? "applied" : "charging"}'`;
  const balance = isSettled ? balanceAfter(move) : "";
  if (!move.restore) return update(state + balance, isCharging);
  const free = freeSlot("giftcard_tender.cart_id", p(move.restore.maxCards));
  const slot = `slot = case when ${isCharging} then giftcard_tender.slot else ${free} end`;
  const canReturn = `giftcard_tender.state = 'spent' and ${free} is not null
    and (giftcard_tender.sealed_card is not null or giftcard_tender.expires_at <= now())
    and not exists (select 1 from giftcard_tender same where same.cart_id = giftcard_tender.cart_id
      and same.fingerprint = giftcard_tender.fingerprint and same.state in (${sqlList(onCartStates)}))
    and not exists (select 1 from giftcard_charge later where later.tender_id = giftcard_tender.id
      and later.external_id <> charge.external_id and later.${sequence} >= charge.${sequence})`;
  return update(`${state}, ${slot}${balance}`, `(${isSettled ? `${isCharging} or ` : ""}${canReturn})`);
}

/**
 * Builds the expression for the smallest free slot of a cart, or null if all up to `maxCards` are taken.
 *
 * @param also a further condition for a card `held` to take its slot
 */
export const freeSlot = (cartId: string, maxCards: string, also = "true") =>
  `(with recursive slots (n) as (select 1 union all select n + 1 from slots where n < ${maxCards})
   select min(n) from slots where n <= ${maxCards} and not exists (
     select 1 from giftcard_tender held
     where held.cart_id = ${cartId} and held.slot = n and held.state in (${sqlList(onCartStates)}) and ${also}
   ))`;
