import { cartStates, unsettledStates } from "../purchase-states.js";
import {
  type NewRefund,
  type Purchase,
  type PurchaseChange,
  type PurchaseStore,
  toPurchase,
  toRefund,
} from "../purchase-store.js";
import { type Database, isUniqueViolation, newParams, type Part, type Row, type Statement } from "./database.js";
import { sqlList } from "./rows.js";

/** Builds further parts of a change, which read the changed row from `purchase`. */
function alsoRefund(p: (value: unknown) => string, refund: NewRefund | undefined, isDone: boolean): Part[] {
  const table = "giftcard_refund";
  const parts: Part[] = [];
  if (isDone)
    parts.push({
      ...{ name: "done", table },
      text: `update giftcard_refund set done_at = now() from purchase
        where giftcard_refund.order_id = purchase.order_id and giftcard_refund.done_at is null`,
    });
  if (refund) {
    const { id, number, rule, lines, amountCents, remainderCents, references } = refund;
    const written = lines && JSON.stringify(lines);
    const values = [id, number, rule, written, amountCents, remainderCents, JSON.stringify(references)];
    parts.push({
      ...{ name: "begun", table },
      text: `insert into giftcard_refund
          (created_at, order_id, id, number, rule, lines, amount_cents, remainder_cents, charge_references)
        select now(), order_id, ${values.map(p).join(", ")} from purchase`,
    });
  }
  return parts;
}

/**
 * Reads a purchase as a change has written it. The owner of a lease is unique to its caller. Without a lease, a concurrent
 * caller may have made the same change: then both believe that they made it, and what they do next is idempotent.
 */
function writtenBy(orderId: string, { to, attemptId, lease, refund }: PurchaseChange): Statement {
  const { params, p } = newParams(orderId, to);
  const where = ["order_id = $1", "state = $2"];
  if (attemptId !== undefined) where.push(`attempt_id = ${p(attemptId)}`);
  if (lease !== undefined) where.push(`lease_owner is not distinct from cast(${p(lease?.owner ?? null)} as text)`);
  if (refund) where.push(`exists (select 1 from giftcard_refund where order_id = $1 and id = ${p(refund.id)})`);
  return [`select * from giftcard_purchase where ${where.join(" and ")}`, params];
}

/** The fields of an attempt in `earlier_attempts`, and their values. */
const attemptFields = `'attemptId', old.attempt_id, 'cartId', old.cart_id, 'totalCents', old.total_cents,
  'currency', old.currency, 'remainderCents', old.remainder_cents, 'remainderSettledBy', old.remainder_settled_by`;

/** Makes the storage of purchases. Each change is a single write. */
export function createPurchases({ query, write, ms, ...database }: Database): PurchaseStore {
  const firstOf = ([row]: Row[]): Purchase | null => (row ? toPurchase(row) : null);
  const first = async (text: string, params: unknown[]) => firstOf(await query(text, params));
  const read = (orderId: string) => first("select * from giftcard_purchase where order_id = $1", [orderId]);
  const ofCart = (cartId: string) =>
    first(`select * from giftcard_purchase where cart_id = $1 and state in (${sqlList(cartStates)})`, [cartId]);
  const begin: PurchaseStore["begin"] = async (purchase, lease) => {
    const { orderId, cartId, attemptId, totalCents, currency, remainderCents, plan, lines } = purchase;
    const begun = await first(
      `insert into giftcard_purchase as old
           (order_id, cart_id, attempt_id, state, total_cents, remainder_cents, lines, lease_owner, lease_until, currency, plan,
            next_try_at, created_at, updated_at)
         values ($1, $2, $3, 'charging', $4, $5, $8, $6, now() + ${ms("$7")}, $9, $10, now(), now(), now())
         on conflict (order_id) do update set cart_id = $2, attempt_id = $3,
           earlier_attempts = ${database.append("old.earlier_attempts", attemptFields)},
           state = 'charging', total_cents = $4,
           currency = $9, plan = $10, remainder_cents = $5, remainder_data = null, lines = $8, lease_owner = $6, lease_until = now() + ${ms("$7")},
           next_try_at = now(), tries = 0, last_error = null, last_actor = null, remainder_settled_by = null, created_at = now(), updated_at = now()
         where old.state = 'failed' returning *`,
      [
        orderId,
        cartId,
        attemptId,
        totalCents,
        remainderCents,
        lease.owner,
        lease.forMs,
        lines && JSON.stringify(lines),
        currency,
        plan,
      ],
    ).catch((error: unknown) => {
      if (isUniqueViolation(error)) return ofCart(cartId);
      throw error;
    });
    if (begun) return begun;
    // Without one, the cart's other purchase has ended meanwhile.
    return (await read(orderId)) ?? begin(purchase, lease);
  };
  return {
    read,
    ofCart,
    begin,
    async change(orderId, change) {
      const { from, to, attemptId, owner, remainderData, lease, retryInMs, lastError, lastActor, remainderSettledBy } =
        change;
      const { params, p } = newParams(orderId, to);
      const sets = ["state = $2", "updated_at = now()"];
      const unlessMoved = (column: string, otherwise: string) =>
        sets.push(`${column} = case when state = $2 then ${column} else ${otherwise} end`);
      if (lastError === undefined) {
        unlessMoved("tries", "0");
        unlessMoved("last_error", "null");
      } else {
        sets.push("tries = case when state = $2 then tries else 0 end + 1", `last_error = ${p(lastError)}`);
      }
      if (retryInMs === undefined) unlessMoved("next_try_at", "now()");
      else sets.push(`next_try_at = now() + ${ms(p(retryInMs))}`);
      if (remainderData !== undefined) sets.push(`remainder_data = ${p(remainderData)}`);
      if (lastActor !== undefined) sets.push(`last_actor = ${p(lastActor)}`);
      if (remainderSettledBy !== undefined) sets.push(`remainder_settled_by = ${p(remainderSettledBy)}`);
      if (lease === null) sets.push("lease_owner = null", "lease_until = null");
      else if (lease) sets.push(`lease_owner = ${p(lease.owner)}`, `lease_until = now() + ${ms(p(lease.forMs))}`);
      const ofRun = attemptId === undefined ? "" : `and attempt_id = ${p(attemptId)}`;
      const ofOwner = owner === undefined ? "" : `and lease_owner = ${p(owner)}`;
      const changed = `update giftcard_purchase set ${sets.join(", ")}
         where order_id = $1 and state in (${sqlList(from)}) ${ofRun} ${ofOwner}`;
      const { refund, isRefundDone = false } = change;
      const purchase = { name: "purchase", table: "giftcard_purchase", text: changed };
      const parts = [purchase, ...alsoRefund(p, refund, isRefundDone)];
      try {
        return firstOf(await write(parts, "select * from purchase", params, writtenBy(orderId, change)));
      } catch (error) {
        if (refund && isUniqueViolation(error)) return null;
        throw error;
      }
    },
    async refunds(orderId) {
      const rows = await query("select * from giftcard_refund where order_id = $1 order by number", [orderId]);
      return rows.map(toRefund);
    },
    async claim(lease, limit, orderId) {
      const isDue = "next_try_at <= now()";
      const which = orderId === undefined ? isDue : `order_id = $4 and (state <> 'pending' or ${isDue})`;
      const due = `select order_id from giftcard_purchase
        where state in (${sqlList(unsettledStates)}) and ${which} and (lease_until is null or lease_until <= now())
        order by next_try_at limit $3 ${database.skipLocked}`;
      // Selected once, so that it never leases more than the limit.
      const rows = await query(
        `update giftcard_purchase set lease_owner = $1, lease_until = now() + ${ms("$2")}
         where order_id ${database.among(due)} returning *`,
        [lease.owner, lease.forMs, limit, ...(orderId === undefined ? [] : [orderId])],
        ["select * from giftcard_purchase where lease_owner = $1 and lease_until > now()", [lease.owner]],
      );
      return rows.map(toPurchase);
    },
    async list({ states = unsettledStates, minTries = 0, limit = 50, offset = 0 }) {
      const matching = `from giftcard_purchase where state ${database.anyOf("$1")} and tries >= $2`;
      const params = [states, minTries];
      const [counted] = await query(`select count(*) as count ${matching}`, params);
      const rows = await query(`select * ${matching} order by tries desc, created_at, order_id limit $3 offset $4`, [
        ...params,
        limit,
        offset,
      ]);
      return { purchases: rows.map(toPurchase), count: Number(counted?.count) };
    },
  };
}
