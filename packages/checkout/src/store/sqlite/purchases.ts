import { cartStates, unsettledStates } from "../purchase-states.js";
import { type NewRefund, type Purchase, type PurchaseStore, toPurchase, toRefund } from "../purchase-store.js";
import { sqlList } from "../rows.js";
import type { Sqlite } from "./database.js";

/** Makes the storage of purchases in an SQLite file. Each change is a transaction. */
export function createSqlitePurchases({ first, all, run, alone, insert }: Sqlite): PurchaseStore {
  type Row = NonNullable<ReturnType<typeof first>>;
  const rowOf = (orderId: string) => first("select * from giftcard_purchase where order_id = ?", orderId);
  const find = (orderId: string): Purchase | null => {
    const row = rowOf(orderId);
    return row ? toPurchase(row) : null;
  };
  const ofCart = (cartId: string): Purchase | null => {
    const row = first(
      `select * from giftcard_purchase where cart_id = ? and state in (${sqlList(cartStates)})`,
      cartId,
    );
    return row ? toPurchase(row) : null;
  };
  const write = (orderId: string, set: Record<string, string | number | null>): Purchase => {
    const columns = Object.keys(set).map((column) => `${column} = ?`);
    run(`update giftcard_purchase set ${columns.join(", ")} where order_id = ?`, ...Object.values(set), orderId);
    return toPurchase(rowOf(orderId) as Row);
  };
  const hasRefund = (orderId: string, { id, number }: NewRefund): boolean =>
    first("select 1 from giftcard_refund where order_id = ? and (id = ? or number = ?)", orderId, id, number) !==
    undefined;
  function addRefund(orderId: string, refund: NewRefund, nowMs: number): void {
    const { id, number, rule, lines, amountCents, remainderCents, references } = refund;
    insert("giftcard_refund", {
      id,
      order_id: orderId,
      number,
      rule,
      lines: lines && JSON.stringify(lines),
      amount_cents: amountCents,
      remainder_cents: remainderCents,
      charge_references: JSON.stringify(references),
      created_at: nowMs,
    });
  }
  return {
    read: async (orderId) => find(orderId),
    ofCart: async (cartId) => ofCart(cartId),
    async begin({ orderId, cartId, attemptId, totalCents, currency, remainderCents, lines }, lease) {
      return alone((nowMs) => {
        const existing = find(orderId);
        if (existing && existing.state !== "failed") return existing;
        const other = ofCart(cartId);
        if (other) return other;
        run("delete from giftcard_purchase where order_id = ?", orderId);
        insert("giftcard_purchase", {
          order_id: orderId,
          cart_id: cartId,
          attempt_id: attemptId,
          earlier_attempts: JSON.stringify(existing ? [...existing.earlierAttemptIds, existing.attemptId] : []),
          state: "charging",
          total_cents: totalCents,
          currency,
          remainder_cents: remainderCents,
          lines: lines && JSON.stringify(lines),
          lease_owner: lease.owner,
          lease_until: nowMs + lease.forMs,
          next_try_at: nowMs,
          created_at: nowMs,
          updated_at: nowMs,
        });
        return find(orderId) as Purchase;
      });
    },
    async change(orderId, change) {
      const { from, to, attemptId, owner, remainderData, lease, retryInMs, lastError, lastActor } = change;
      return alone((nowMs) => {
        const row = rowOf(orderId);
        const before = row && toPurchase(row);
        if (!before || !from.includes(before.state)) return null;
        if (attemptId !== undefined && before.attemptId !== attemptId) return null;
        if (owner !== undefined && row.lease_owner !== owner) return null;
        if (change.refund && hasRefund(orderId, change.refund)) return null;
        if (change.isRefundDone)
          run("update giftcard_refund set done_at = ? where order_id = ? and done_at is null", nowMs, orderId);
        if (change.refund) addRefund(orderId, change.refund, nowMs);
        const hasMoved = before.state !== to;
        const set: Parameters<typeof write>[1] = { state: to, updated_at: nowMs };
        if (lastError !== undefined || hasMoved) set.last_error = lastError ?? null;
        if (lastError !== undefined || hasMoved)
          set.tries = (hasMoved ? 0 : before.tries) + (lastError === undefined ? 0 : 1);
        if (retryInMs !== undefined || hasMoved) set.next_try_at = nowMs + (retryInMs ?? 0);
        if (remainderData !== undefined) set.remainder_data = remainderData;
        if (lastActor !== undefined) set.last_actor = lastActor;
        if (lease !== undefined) {
          set.lease_owner = lease?.owner ?? null;
          set.lease_until = lease ? nowMs + lease.forMs : null;
        }
        return write(orderId, set);
      });
    },
    async refunds(orderId) {
      return all("select * from giftcard_refund where order_id = ? order by number", orderId).map(toRefund);
    },
    async claim(lease, limit, orderId) {
      return alone((nowMs) => {
        const isOne = orderId === undefined ? "next_try_at <= ?" : "order_id = ?";
        const rows = all(
          `select order_id from giftcard_purchase where state in (${sqlList(unsettledStates)}) and ${isOne}
             and (state <> 'pending' or next_try_at <= ?) and (lease_until is null or lease_until <= ?) order by next_try_at limit ?`,
          orderId ?? nowMs,
          nowMs,
          nowMs,
          limit,
        );
        const held = { lease_owner: lease.owner, lease_until: nowMs + lease.forMs };
        return rows.map((row) => write(String(row.order_id), held));
      });
    },
    async list({ states = unsettledStates, minTries = 0, limit = 50, offset = 0 }) {
      const marks = states.map(() => "?").join(", ");
      const matching = `from giftcard_purchase where state in (${marks}) and tries >= ?`;
      const values = [...states, minTries];
      const rows = all(
        `select * ${matching} order by tries desc, created_at, order_id limit ? offset ?`,
        ...values,
        limit,
        offset,
      );
      const count = Number(first(`select count(*) as count ${matching}`, ...values)?.count);
      return { purchases: rows.map(toPurchase), count };
    },
  };
}
