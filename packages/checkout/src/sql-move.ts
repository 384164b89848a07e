import type { Move } from "./journal.js";
import { sqlList } from "./sql-journal-schema.js";

/** A parameter in milliseconds, as an interval. */
export const ms = (param: string) => `(${param}::float8 * interval '1 millisecond')`;

/** A devalue that took less than asked took all that was there: that is the balance, once it is back. */
const lessThanAsked = `, balance_cents = case when attempt.deducted_cents < attempt.amount_cents
  then attempt.deducted_cents else giftcard_tender.balance_cents end`;

/**
 * One statement: the attempt's change, what follows from it for the tender, and whatever else must happen with it, so
 * that they can't differ.
 *
 * @param also further parts that read from `attempt`, the changed row; they add their own parameters
 */
export function moveStatement(
  reference: string,
  move: Move,
  also: (param: (value: unknown) => string) => string[] = () => [],
): [string, unknown[]] {
  const params: unknown[] = [];
  const p = (value: unknown) => `$${params.push(value)}`;
  const target = p(reference);
  const sets = [`state = ${p(move.to)}`, "updated_at = now()"];
  if (move.orderId !== undefined) sets.push(`order_id = ${p(move.orderId)}`);
  if (move.deductedCents !== undefined) sets.push(`deducted_cents = ${p(move.deductedCents)}`);
  if (move.sealedCard === null) sets.push("sealed_card = null");
  if (move.sealedToken !== undefined) sets.push(`sealed_token = ${p(move.sealedToken)}`);
  if (move.reason !== undefined) sets.push(`reason = ${p(move.reason)}`);
  if (move.balanceAfterCents !== undefined) {
    sets.push(`balance_after_cents = ${p(move.balanceAfterCents)}`, "balance_after_at = now()");
  }
  if (move.lease === null) sets.push("lease_owner = null", "lease_until = null");
  else if (move.lease) {
    sets.push(`lease_owner = ${p(move.lease.owner)}`, `lease_until = now() + ${ms(p(move.lease.forMs))}`);
  }
  if (move.retryInMs !== undefined)
    sets.push("tries = tries + 1", `next_try_at = now() + ${ms(p(move.retryInMs))}`);
  if (move.to === "sent") sets.push("sent_at = now()");
  if (move.to === "devalued") sets.push("devalued_at = now()");
  if (move.to === "reversed") sets.push("reversed_at = now()");
  const owner = move.owner === undefined ? "" : `and lease_owner = ${p(move.owner)}`;
  const change = `update giftcard_attempt set ${sets.join(", ")}
    where reference = ${target} and state in (${sqlList(move.from)}) ${owner} returning *`;
  const parts = [`attempt as (${change})`];
  const tenderState = { committed: "spent", taken: "spent", refused: "applied", reversed: "applied" }[
    move.to as string
  ];
  if (tenderState) {
    parts.push(`tender as (
      update giftcard_tender set state = '${tenderState}', updated_at = now()
        ${tenderState === "spent" ? ", sealed_card = null" : ""}
        ${move.to === "reversed" ? lessThanAsked : ""}
        ${move.reason === "card_no_balance" ? ", balance_cents = 0" : ""}
      from attempt where giftcard_tender.id = attempt.tender_id and giftcard_tender.state = 'charging'
    )`);
  }
  return [`with ${[...parts, ...also(p)].join(", ")} select * from attempt`, params];
}
