import type { Charge, ChargeState, Move } from "../journal.js";
import { momentOf } from "../moments.js";
import { toCharge } from "../rows.js";
import type { Row, Sqlite, Value } from "./database.js";

/** How a charge changes, and its tender with it. Each is called while nobody else writes. */
export function createSqliteMoves({ all, one, run }: Sqlite) {
  const readCharge = (column: "reference" | "external_id", value: string): Charge | null => {
    const row = one(`select * from giftcard_charge where ${column} = ?`, value);
    return row ? toCharge(row) : null;
  };

  function change(reference: string, move: Move, nowMs: number): boolean {
    const row = one("select * from giftcard_charge where reference = ?", reference);
    if (!row || !move.from.includes(row.state as ChargeState)) return false;
    if (move.owner !== undefined && row.lease_owner !== move.owner) return false;
    const set = columnsOf(move, row, nowMs);
    const columns = Object.keys(set).map((column) => `${column} = ?`);
    run(
      `update giftcard_charge set ${columns.join(", ")} where reference = ?`,
      ...Object.values(set),
      reference,
    );
    followTender(reference, String(row.tender_id), move, nowMs);
    return true;
  }

  const held = (cartId: string) =>
    all("select * from giftcard_tender where cart_id = ? and state in ('applied', 'charging')", cartId);

  /** The slot of a spent tender that may be the cart's again, or null where it may not. */
  function slotOfReturn(reference: string, tender: Row, maxCards: number, nowMs: number): number | null {
    const [id, cartId] = [String(tender.id), String(tender.cart_id)];
    if (tender.state !== "spent") return null;
    if (tender.sealed_card === null && Number(tender.expires_at) > nowMs) return null;
    if (held(cartId).some((other) => other.fingerprint === tender.fingerprint)) return null;
    const latest = one(
      "select reference from giftcard_charge where tender_id = ? order by rowid desc limit 1",
      id,
    );
    return latest?.reference === reference ? freeSlot(held(cartId), maxCards) : null;
  }

  function followTender(reference: string, tenderId: string, move: Move, nowMs: number): void {
    const tender = one("select * from giftcard_tender where id = ?", tenderId) as Row;
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

  /** What is known of the card's balance once its charge is settled, or null where nothing new is. */
  function balanceAfter(reference: string, move: Move): number | null {
    if (move.reason === "card_no_balance") return 0;
    if (move.to !== "reversed") return null;
    // A devalue that took less than asked took all that was there: that is the balance, once it is back.
    const row = one(
      `select deducted_cents from giftcard_charge where reference = ? and deducted_cents < amount_cents`,
      reference,
    );
    return row ? Number(row.deducted_cents) : null;
  }

  return { change, held, readCharge };
}

/** The smallest slot that none of these cards holds, or null where all up to `maxCards` are held. */
export function freeSlot(held: readonly Row[], maxCards: number): number | null {
  const taken = new Set(held.map((tender) => tender.slot));
  for (let slot = 1; slot <= maxCards; slot++) if (!taken.has(slot)) return slot;
  return null;
}

/** What a move writes into its charge. */
function columnsOf(move: Move, row: Row, nowMs: number): Record<string, Value> {
  const set: Record<string, Value> = { state: move.to, updated_at: nowMs };
  if (move.orderId !== undefined) set.order_id = move.orderId;
  if (move.deductedCents !== undefined) set.deducted_cents = move.deductedCents;
  if (move.sealedCard === null) set.sealed_card = null;
  if (move.sealedToken !== undefined) set.sealed_token = move.sealedToken;
  if (move.reason !== undefined) set.reason = move.reason;
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
