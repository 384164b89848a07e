import type { Charge, ChargeState, Move } from "../charge.js";
import { livingStates } from "../charge-states.js";
import { momentOf, sqlList, toCharge } from "../rows.js";
import { onCartStates } from "../tender.js";
import type { Row, Sqlite, Value } from "./database.js";

/** Makes the functions that change a charge and its tender. They have to be called within a write transaction. */
export function createSqliteMoves({ all, first, run }: Sqlite) {
  const readRow = (reference: string) => first("select * from giftcard_charge where reference = ?", reference);

  const readCharge = (reference: string): Charge | null => {
    const row = readRow(reference);
    return row ? toCharge(row) : null;
  };

  /** Whether a tender has an open charge. */
  const isCharged = (tender: Row) =>
    first(
      `select 1 from giftcard_charge where tender_id = ? and state in (${sqlList(livingStates)})`,
      String(tender.id),
    ) !== undefined;

  /** Changes all charges, or none. */
  function changeAll(references: readonly string[], move: Move, nowMs: number): boolean {
    const canChange = (row: Row | undefined): row is Row =>
      row !== undefined &&
      move.from.includes(row.state as ChargeState) &&
      (move.owner === undefined || row.lease_owner === move.owner) &&
      (move.refundIdWas === undefined || row.refund_id === move.refundIdWas);
    const rows = references.map(readRow).filter(canChange);
    if (rows.length === 0 || rows.length < references.length) return false;
    for (const row of rows) change(String(row.reference), row, move, nowMs);
    return true;
  }

  function change(reference: string, row: Row, move: Move, nowMs: number): void {
    const set = columnsOf(move, row, nowMs);
    const columns = Object.keys(set).map((column) => `${column} = ?`);
    run(`update giftcard_charge set ${columns.join(", ")} where reference = ?`, ...Object.values(set), reference);
    followTender(reference, String(row.tender_id), move, nowMs);
  }

  const held = (cartId: string) =>
    all(`select * from giftcard_tender where cart_id = ? and state in (${sqlList(onCartStates)})`, cartId);

  /** Returns a slot for a spent tender that can be put back on the cart, or null if it can't. */
  function slotOfReturn(reference: string, tender: Row, maxCards: number, nowMs: number): number | null {
    const [id, cartId] = [String(tender.id), String(tender.cart_id)];
    if (tender.state !== "spent") return null;
    if (tender.sealed_card === null && Number(tender.expires_at) > nowMs) return null;
    if (held(cartId).some((other) => other.fingerprint === tender.fingerprint)) return null;
    const latest = first("select external_id from giftcard_charge where tender_id = ? order by rowid desc limit 1", id);
    return latest?.external_id === readRow(reference)?.external_id ? freeSlot(held(cartId), maxCards) : null;
  }

  function followTender(reference: string, tenderId: string, move: Move, nowMs: number): void {
    const tender = first("select * from giftcard_tender where id = ?", tenderId) as Row;
    const write = (set: Record<string, Value>) =>
      run(
        `update giftcard_tender set ${Object.keys(set).map((column) => `${column} = ?`)}, updated_at = ? where id = ?`,
        ...Object.values(set),
        nowMs,
        tenderId,
      );
    const isCharging = tender.state === "charging";
    const isPaidWith = isCharging || tender.state === "spent";
    if (move.to === "committed") {
      if (isCharging) write({ state: "spent" });
    } else if (move.to === "taken") {
      if (isPaidWith) write({ state: "spent", sealed_card: null });
    } else if (move.to === "captured") {
      if (isPaidWith && tender.sealed_card !== null) write({ sealed_card: null });
    } else {
      const isSettled = move.to === "refused" || move.to === "reversed";
      const slot = move.restore ? slotOfReturn(reference, tender, move.restore.maxCards, nowMs) : null;
      if (slot === null && !(isSettled && isCharging)) return;
      const state = isSettled ? "applied" : "charging";
      const balance = isSettled ? balanceAfter(reference, move) : null;
      write({
        state,
        ...(slot !== null && { slot }),
        ...(balance !== null && { balance_cents: balance }),
      });
    }
  }

  /** Returns the card's balance as known once its charge is settled, or null if that doesn't change it. */
  function balanceAfter(reference: string, move: Move): number | null {
    const charge = readRow(reference) as Row;
    const isLess = charge.deducted_cents !== null && Number(charge.deducted_cents) < Number(charge.amount_cents);
    const isEmpty = move.reason === "card_no_balance";
    if (!isEmpty && !(isLess && move.to === "reversed")) return null;
    // A devalue that took less than requested took the whole balance. Once reversed, that is the balance again.
    const which = "from giftcard_charge where external_id = ? and reference <> ?";
    const beside = first(
      `select coalesce(sum(deducted_cents), 0) as cents ${which}`,
      String(charge.external_id),
      reference,
    );
    return Number(beside?.cents) + (isEmpty ? 0 : Number(charge.deducted_cents));
  }

  return { changeAll, held, isCharged, readCharge };
}

/** Returns the smallest slot that none of these cards takes, or null if all up to `maxCards` are taken. */
export function freeSlot(held: readonly Row[], maxCards: number): number | null {
  const taken = new Set(held.map((tender) => tender.slot));
  for (let slot = 1; slot <= maxCards; slot++) if (!taken.has(slot)) return slot;
  return null;
}

/** Returns the columns of a charge that a move changes. */
function columnsOf(move: Move, row: Row, nowMs: number): Record<string, Value> {
  const set: Record<string, Value> = { state: move.to, updated_at: nowMs };
  if (row.state !== move.to) set.state_changed_at = nowMs;
  if (move.orderId !== undefined) set.order_id = move.orderId;
  if (move.deductedCents !== undefined) set.deducted_cents = move.deductedCents;
  if (move.sealedCard === null) set.sealed_card = null;
  if (move.sealedToken !== undefined) set.sealed_token = move.sealedToken;
  if (move.reason !== undefined) set.reason = move.reason;
  if (move.refundId !== undefined) set.refund_id = move.refundId;
  if (move.balanceAfterCents !== undefined) {
    set.balance_after_cents = move.balanceAfterCents;
    set.balance_after_at = nowMs;
  }
  if (move.lease !== undefined) {
    set.lease_owner = move.lease?.owner ?? null;
    set.lease_until = move.lease ? nowMs + move.lease.forMs : null;
  }
  if (move.retryInMs !== undefined) set.next_try_at = nowMs + move.retryInMs;
  if (move.lastError !== undefined) {
    set.tries = Number(row.tries) + 1;
    set.last_error = move.lastError;
  } else if (!move.from.includes(move.to)) set.last_error = null;
  const moment = momentOf[move.to];
  if (moment && row[moment] === null) set[moment] = nowMs;
  return set;
}
