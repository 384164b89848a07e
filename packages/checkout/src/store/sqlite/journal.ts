import type { ChargeState } from "../charge.js";
import { recoverableStates } from "../charge-states.js";
import type { Journal } from "../journal.js";
import { sqlList, toCharge, toTender } from "../rows.js";
import { onCartStates } from "../tender.js";
import { DAY_MS, type Row, type Sqlite } from "./database.js";
import { createSqliteMoves, freeSlot } from "./move.js";
import { createSqliteOperatorQueries } from "./operator-queries.js";

/** The condition that a charge has one of these states, and no valid lease. */
const isLeft = (states: readonly ChargeState[]) =>
  `state in (${sqlList(states)}) and (lease_until is null or lease_until <= ?)`;

/**
 * Makes the journal in an SQLite file, for a shop on one machine; several processes can share the file. Each change is a
 * transaction, and on disk when it returns.
 */
export function createSqliteJournal(sqlite: Sqlite): Journal {
  const { all, first, run, now, alone, insert } = sqlite;
  const { changeAll, held, isCharged, readCharge } = createSqliteMoves(sqlite);
  const chargesOfPayment = (externalId: string) =>
    all("select * from giftcard_charge where external_id = ? order by position", externalId).map(toCharge);
  /** Settling the first of a tender's charges sets it to `applied`. It is shown as `charging` until all are settled. */
  const readTender = (row: Row) =>
    toTender({
      ...row,
      expired: row.expired === 1,
      state: row.state === "applied" && isCharged(row) ? "charging" : row.state,
    });
  return {
    now: async () => new Date(now()),
    async addQuote(tender, lifeMs) {
      alone((nowMs) =>
        insert("giftcard_tender", {
          id: tender.id,
          cart_id: tender.cartId,
          state: "quoted",
          last_four: tender.lastFour,
          fingerprint: tender.fingerprint,
          balance_cents: tender.balanceCents,
          expiry_date: tender.expiryDate,
          sealed_card: tender.sealedCard,
          expires_at: nowMs + lifeMs,
          created_at: nowMs,
          updated_at: nowMs,
        }),
      );
    },
    async applyQuote(cartId, tenderId, { quoteLifeMs, maxCards }) {
      return alone((nowMs) => {
        const row = first("select * from giftcard_tender where cart_id = ? and id = ?", cartId, tenderId);
        if (row?.state === "applied") return "applied";
        const inTime = Number(row?.expires_at) > nowMs && Number(row?.created_at) > nowMs - quoteLifeMs;
        if (row?.state !== "quoted" || !inTime) return "gone";
        const hasLapsed = (tender: Row) =>
          tender.state === "applied" && Number(tender.expires_at) <= nowMs && !isCharged(tender);
        const [lapsed, living] = [held(cartId).filter(hasLapsed), held(cartId).filter((t) => !hasLapsed(t))];
        if (living.some(({ fingerprint }) => fingerprint === row.fingerprint)) return "duplicate";
        const slot = freeSlot(living, maxCards);
        if (slot === null) return "full";
        for (const old of lapsed) {
          const state = old.fingerprint === row.fingerprint ? "removed" : "applied";
          if (old.slot === null && state === "applied") continue;
          const give = "update giftcard_tender set slot = null, state = ?, updated_at = ? where id = ?";
          run(give, state, nowMs, String(old.id));
        }
        const apply = "update giftcard_tender set state = 'applied', slot = ?, updated_at = ? where id = ?";
        run(apply, slot, nowMs, tenderId);
        return "applied";
      });
    },
    async removeTender(cartId, tenderId) {
      return alone((nowMs) => {
        const row = first("select id, state from giftcard_tender where cart_id = ? and id = ?", cartId, tenderId);
        if (row && (row.state === "charging" || (row.state === "applied" && isCharged(row)))) return "charging";
        if (row?.state !== "applied" && row?.state !== "quoted") return "gone";
        run(
          "update giftcard_tender set state = 'removed', sealed_card = null, updated_at = ? where id = ?",
          nowMs,
          tenderId,
        );
        return "removed";
      });
    },
    async putBack({ id, state, sealedCard }, from, maxCards) {
      return alone((nowMs) => {
        const row = first("select * from giftcard_tender where id = ? and state = ?", id, from);
        if (!row) return false;
        const others = held(String(row.cart_id)).filter((other) => other.id !== id);
        const slot = freeSlot(others, maxCards);
        // A card that is being charged is stored as applied; its charges show the rest.
        const stored = state === "charging" ? "applied" : state;
        if (stored === "applied") {
          const isDuplicate = others.some((other) => other.fingerprint === row.fingerprint);
          if (isDuplicate || slot === null) return false;
        }
        const set = "state = ?, sealed_card = ?, slot = ?, updated_at = ?";
        return run(`update giftcard_tender set ${set} where id = ?`, stored, sealedCard, slot, nowMs, id) === 1;
      });
    },
    async tender(tenderId) {
      const row = first("select *, expires_at <= ? as expired from giftcard_tender where id = ?", now(), tenderId);
      return row ? readTender(row) : null;
    },
    async tenders(cartId) {
      const rows = all(
        `select *, expires_at <= ? as expired from giftcard_tender
           where cart_id = ? and state in (${sqlList(onCartStates)}) order by created_at, rowid`,
        now(),
        cartId,
      );
      return rows.map(readTender);
    },
    async holdsCard(cartId, fingerprint) {
      const nowMs = now();
      return held(cartId).some(
        (tender) =>
          tender.fingerprint === fingerprint &&
          (tender.state === "charging" || Number(tender.expires_at) > nowMs || isCharged(tender)),
      );
    },
    async begin(payment, lease) {
      const {
        tenderId,
        cartId,
        externalId,
        orderId = null,
        environment,
        baseUrl,
        companyId,
        state = "intent",
      } = payment;
      const begin = (nowMs: number) => {
        const tender = first(
          "select * from giftcard_tender where id = ? and cart_id = ? and state = 'applied' and expires_at > ? and sealed_card is not null",
          tenderId,
          cartId,
          nowMs,
        );
        if (!tender || isCharged(tender)) return [];
        run("update giftcard_tender set state = 'charging', updated_at = ? where id = ?", nowMs, tenderId);
        for (const [index, { reference, amountCents, sealedCard, pieces }] of payment.charges.entries()) {
          insert("giftcard_charge", {
            reference,
            tender_id: tenderId,
            cart_id: cartId,
            external_id: externalId,
            position: index + 1,
            pieces: pieces === undefined ? null : JSON.stringify(pieces),
            order_id: orderId,
            environment,
            base_url: baseUrl,
            company_id: companyId,
            state,
            state_changed_at: nowMs,
            sent_at: state === "sent" ? nowMs : null,
            last_four: String(tender.last_four),
            amount_cents: amountCents,
            sealed_card: sealedCard,
            balance_before_cents: Number(tender.balance_cents),
            lease_owner: lease.owner,
            lease_until: nowMs + lease.forMs,
            next_try_at: nowMs,
            created_at: nowMs,
            updated_at: nowMs,
          });
        }
        return chargesOfPayment(externalId);
      };
      try {
        return alone(begin);
      } catch (error) {
        // A payment with this id exists.
        if (isUniqueViolation(error)) return [];
        throw error;
      }
    },
    charge: async (reference) => readCharge(reference),
    chargesOfPayment: async (externalId) => chargesOfPayment(externalId),
    async chargesOfCart(cartId) {
      const rows = all("select * from giftcard_charge where cart_id = ? order by created_at desc, rowid desc", cartId);
      return rows.map(toCharge);
    },
    move: async (reference, move) =>
      alone((nowMs) => (changeAll([reference], move, nowMs) ? readCharge(reference) : null)),
    moveAll: async (references, move) =>
      alone((nowMs) =>
        changeAll(references, move, nowMs) ? references.flatMap((reference) => readCharge(reference) ?? []) : null,
      ),
    async renew(owner, forMs) {
      return alone((nowMs) => {
        const isHeld = `lease_owner = ? and state in (${sqlList(recoverableStates)})`;
        // A lease that is almost new is unchanged, so that no lease gets shorter.
        const prolong = `update giftcard_charge set lease_until = ? where ${isHeld} and lease_until < ?`;
        run(prolong, nowMs + forMs, owner, nowMs + 0.9 * forMs);
        return Number(first(`select count(*) as held from giftcard_charge where ${isHeld}`, owner)?.held);
      });
    },
    async nextDue(after, cartId) {
      const nowMs = now();
      const which = cartId === undefined ? "next_try_at <= ?" : "cart_id = ?";
      const row = first(
        `select * from giftcard_charge where reference > ? and ${isLeft(recoverableStates)} and ${which} order by reference limit 1`,
        after,
        nowMs,
        cartId ?? nowMs,
      );
      return row ? toCharge(row) : null;
    },
    async claim(reference, lease, states = recoverableStates) {
      return alone((nowMs) => {
        const changed = run(
          `update giftcard_charge set lease_owner = ?, lease_until = ? where reference = ? and ${isLeft(states)}`,
          lease.owner,
          nowMs + lease.forMs,
          reference,
          nowMs,
        );
        return changed === 1 ? readCharge(reference) : null;
      });
    },
    async release(reference, owner) {
      alone(() =>
        run(
          "update giftcard_charge set lease_owner = null, lease_until = null where reference = ? and lease_owner = ?",
          reference,
          owner,
        ),
      );
    },
    ...createSqliteOperatorQueries(sqlite),
    async purge() {
      alone((nowMs) => {
        run(
          "update giftcard_tender set sealed_card = null, updated_at = ? where sealed_card is not null and expires_at <= ?",
          nowMs,
          nowMs,
        );
        // A quote that was applied, charged and put back has a charge that refers to it.
        run(
          `delete from giftcard_tender where state = 'quoted' and expires_at <= ?
             and not exists (select 1 from giftcard_charge where tender_id = giftcard_tender.id)`,
          nowMs,
        );
        run(
          "update giftcard_tender set state = 'removed', updated_at = ? where state = 'applied' and expires_at <= ?",
          nowMs,
          nowMs - 30 * DAY_MS,
        );
        run("delete from giftcard_guess where resets_at <= ?", nowMs);
        run(
          "update giftcard_charge set sealed_card = null, updated_at = ? where sealed_card is not null and created_at <= ?",
          nowMs,
          nowMs - DAY_MS,
        );
      });
    },
  };
}

/** SQLite's error codes of a unique index and of a primary key. */
const UNIQUE_VIOLATIONS = [2067, 1555];
const isUniqueViolation = (error: unknown) =>
  UNIQUE_VIOLATIONS.includes(Number((error as { errcode?: unknown } | null)?.errcode));
