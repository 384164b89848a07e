import type { ChargeState, Move } from "../charge.js";
import { recoverableStates } from "../charge-states.js";
import type { Journal } from "../journal.js";
import { onCartStates } from "../tender.js";
import { type Database, isUniqueViolation, newParams, type Part, type Statement } from "./database.js";
import { freeSlot, isCharged, movedCharges, moveWrite } from "./move.js";
import { createOperatorQueries, DAY_MS } from "./operator-queries.js";
import { sqlList, toCharge, toTender } from "./rows.js";

/** The condition that a charge has one of these states, and no valid lease. */
const isLeft = (states: readonly ChargeState[]) =>
  `state in (${sqlList(states)}) and (lease_until is null or lease_until <= now())`;

/** Settling the first of a tender's charges sets it to `applied`. It is shown as `charging` until all are settled. */
const tenderColumns = `id, cart_id, last_four, balance_cents, expiry_date, sealed_card, expires_at <= now() as expired, created_at,
  case when state = 'applied' and ${isCharged("giftcard_tender")} then 'charging' else state end as state`;

/** The condition that a card on the cart has expired, so that it takes no place. */
const hasLapsed = (tender: string) =>
  `(${tender}.state = 'applied' and ${tender}.expires_at <= now() and not ${isCharged(tender)})`;

/**
 * Applies the quote `$2` of the cart `$1` if it is at most `$3` old, as one of at most `$4` cards. Expired cards make room
 * first, and only if the quote is applied: PostgreSQL has to read `lapsed` completely before the first row of `applied`. The
 * outcome is `overtaken` if a concurrent call has changed the quote.
 */
const applyParts = ({ ms }: Database): Part[] => [
  { name: "fresh", text: "select * from giftcard_tender where cart_id = $1 and id = $2" },
  {
    name: "decided",
    text: `select fresh.fingerprint, free.slot, case
        when fresh.state = 'applied' then 'applied'
        when fresh.state <> 'quoted' or fresh.expires_at <= now() or fresh.created_at <= now() - ${ms("$3")} then 'gone'
        when exists (select 1 from giftcard_tender held where held.cart_id = $1 and held.fingerprint = fresh.fingerprint
          and held.state in (${sqlList(onCartStates)}) and not ${hasLapsed("held")}) then 'duplicate'
        when free.slot is null then 'full'
        else 'apply' end as outcome
      from fresh, (select ${freeSlot("$1", "$4", `not ${hasLapsed("held")}`)} as slot) free`,
  },
  {
    ...{ name: "lapsed", table: "giftcard_tender" },
    text: `update giftcard_tender as old set slot = null, updated_at = now(),
        state = case when old.fingerprint = decided.fingerprint then 'removed' else old.state end
      from decided where decided.outcome = 'apply' and old.cart_id = $1 and ${hasLapsed("old")}
        and (old.slot is not null or old.fingerprint = decided.fingerprint)`,
  },
  {
    ...{ name: "applied", table: "giftcard_tender" },
    text: `update giftcard_tender set state = 'applied', slot = decided.slot, updated_at = now()
      from decided, (select count(*) from lapsed) roomy
      where decided.outcome = 'apply' and cart_id = $1 and id = $2 and state = 'quoted'`,
  },
];
const applyOutcome = `
  select case when outcome <> 'apply' then outcome when exists (select 1 from applied) then 'applied' else 'overtaken' end
    as outcome from decided`;

/** Makes the journal. Each change is a single write, and therefore atomic. Leases and expiry use the database's clock. */
export function createJournal(database: Database): Journal {
  const { query, ms, anyOf, sequence } = database;
  const first = async (...statement: Parameters<typeof query>) => (await query(...statement))[0];
  const charges = async (...statement: Parameters<typeof query>) => (await query(...statement)).map(toCharge);
  const oneCharge = async (...statement: Parameters<typeof query>) => (await charges(...statement))[0] ?? null;

  const moveAll: Journal["moveAll"] = async (references, move) => {
    const { restore, ...alone } = move;
    const changed = async (how: Move) => {
      const write = moveWrite(database, references, how);
      const moved = (await database.write(...write, movedCharges(database, references, how))).map(toCharge);
      return moved.length > 0 ? moved.sort((a, b) => a.position - b.position) : null;
    };
    // The card may be applied to the cart concurrently. The change of the charge must be written even so.
    for (let races = 0; restore && races < 3; races++) {
      try {
        return await changed(move);
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
      }
    }
    return changed(alone);
  };

  return {
    async now() {
      const row = await first("select now() as now", []);
      return new Date(row?.now as string);
    },
    async addQuote(tender, lifeMs) {
      await query(
        `insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expiry_date, sealed_card,
           expires_at, created_at, updated_at)
         values ($1, $2, 'quoted', $3, $4, $5, $6, $7, now() + ${ms("$8")}, now(), now())
         on conflict (id) do nothing`,
        [
          tender.id,
          tender.cartId,
          tender.lastFour,
          tender.fingerprint,
          tender.balanceCents,
          tender.expiryDate,
          tender.sealedCard,
          lifeMs,
        ],
      );
    },
    async applyQuote(cartId, tenderId, { quoteLifeMs, maxCards }) {
      // Each lost race for a slot means that one was filled: after `maxCards` of them, the cart is full.
      for (let races = 0; ; races++) {
        try {
          const params = [cartId, tenderId, quoteLifeMs, maxCards];
          const [row] = await database.write(applyParts(database), applyOutcome, params);
          const outcome = row?.outcome ?? "gone";
          if (outcome !== "overtaken") return outcome as "applied" | "duplicate" | "full" | "gone";
        } catch (error) {
          if (!isUniqueViolation(error) || races > maxCards) throw error;
        }
      }
    },
    async removeTender(cartId, tenderId) {
      const removed = await first(
        `update giftcard_tender set state = 'removed', sealed_card = null, updated_at = now()
         where cart_id = $1 and id = $2 and (state = 'quoted' or (state = 'applied' and not ${isCharged("giftcard_tender")}))
         returning id`,
        [cartId, tenderId],
        ["select id from giftcard_tender where cart_id = $1 and id = $2 and state = 'removed'", [cartId, tenderId]],
      );
      if (removed) return "removed";
      const row = await first(`select ${tenderColumns} from giftcard_tender where cart_id = $1 and id = $2`, [
        cartId,
        tenderId,
      ]);
      return row?.state === "charging" ? "charging" : "gone";
    },
    async putBack({ id, state, sealedCard }, from, maxCards) {
      try {
        // A card that is being charged is stored as applied; its charges show the rest.
        const stored = state === "charging" ? "applied" : state;
        const row = await first(
          `update giftcard_tender set state = $2, sealed_card = $3, updated_at = now(), slot = free.slot
           from (select ${freeSlot("(select cart_id from giftcard_tender where id = $1)", "$5", "held.id <> $1")} as slot) free
           where id = $1 and state = $4 ${stored === "applied" ? "and free.slot is not null" : ""} returning id`,
          [id, stored, sealedCard, from, maxCards],
          ["select id from giftcard_tender where id = $1 and state = $2", [id, stored]],
        );
        return row !== undefined;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
    async tender(tenderId) {
      const row = await first(`select ${tenderColumns} from giftcard_tender where id = $1`, [tenderId]);
      return row ? toTender(row) : null;
    },
    async tenders(cartId) {
      const rows = await query(
        `select ${tenderColumns} from giftcard_tender
         where cart_id = $1 and state in (${sqlList(onCartStates)}) order by ${sequence}, id`,
        [cartId],
      );
      return rows.map(toTender);
    },
    async holdsCard(cartId, fingerprint) {
      const row = await first(
        `select 1 as found from giftcard_tender where cart_id = $1 and fingerprint = $2
           and (state = 'charging' or (state = 'applied' and not ${hasLapsed("giftcard_tender")})) limit 1`,
        [cartId, fingerprint],
      );
      return row !== undefined;
    },
    async begin(payment, lease) {
      const {
        tenderId,
        cartId,
        externalId,
        attemptId = null,
        orderId = null,
        environment,
        baseUrl,
        companyId,
        state = "intent",
      } = payment;
      const { params, p } = newParams(
        tenderId,
        cartId,
        externalId,
        orderId,
        environment,
        baseUrl,
        companyId,
        attemptId,
      );
      const parts = payment.charges.map(({ reference, amountCents, sealedCard, pieces }, index) => {
        const written = pieces === undefined ? null : JSON.stringify(pieces);
        return `(${p(reference)}, ${index + 1}, cast(${p(written)} as text), cast(${p(amountCents)} as integer), ${p(sealedCard)})`;
      });
      const write: Part[] = [
        { name: "part (reference, position, pieces, amount_cents, sealed_card)", text: `values ${parts.join(", ")}` },
        {
          ...{ name: "tender", table: "giftcard_tender" },
          text: `update giftcard_tender set state = 'charging', updated_at = now()
            where id = $1 and cart_id = $2 and state = 'applied' and expires_at > now() and sealed_card is not null
              and not ${isCharged("giftcard_tender")}`,
        },
        {
          ...{ name: "charge", table: "giftcard_charge" },
          text: `insert into giftcard_charge (reference, tender_id, cart_id, external_id, attempt_id, position, pieces, order_id, environment,
              base_url, company_id, state, state_changed_at, sent_at, last_four, amount_cents, sealed_card,
              balance_before_cents, lease_owner, lease_until, next_try_at, created_at, updated_at)
            select part.reference, tender.id, tender.cart_id, $3, cast($8 as text), part.position, part.pieces, $4, $5, $6, $7, '${state}', now(),
              ${state === "sent" ? "now()" : "null"}, tender.last_four, part.amount_cents, part.sealed_card,
              tender.balance_cents, ${p(lease.owner)}, now() + ${ms(p(lease.forMs))}, now(), now(), now()
            from tender, part order by part.position`,
        },
      ];
      const whenLost: Statement = [
        `select * from giftcard_charge where reference ${anyOf("$1")} order by position`,
        [payment.charges.map(({ reference }) => reference)],
      ];
      try {
        const rows = await database.write(write, "select * from charge order by position", params, whenLost);
        return rows.map(toCharge);
      } catch (error) {
        // A payment with this id exists.
        if (isUniqueViolation(error)) return [];
        throw error;
      }
    },
    charge: (reference) => oneCharge("select * from giftcard_charge where reference = $1", [reference]),
    chargesOfPayment: (id) => charges("select * from giftcard_charge where external_id = $1 order by position", [id]),
    chargesOfCart: (cartId) =>
      charges(`select * from giftcard_charge where cart_id = $1 order by ${sequence} desc, position desc, reference`, [
        cartId,
      ]),
    move: async (reference, move) => (await moveAll([reference], move))?.[0] ?? null,
    moveAll,
    async renew(owner, forMs) {
      const isHeld = `lease_owner = $1 and state in (${sqlList(recoverableStates)})`;
      const isNew = `lease_until >= now() + 0.9 * ${ms("$2")}`;
      const prolong = `update giftcard_charge set lease_until = now() + ${ms("$2")} where ${isHeld} and not ${isNew}`;
      // A lease that is almost new is only read, which saves a write.
      const [row] = await database.write(
        [{ name: "prolonged", table: "giftcard_charge", text: prolong }],
        `select count(*) as held from giftcard_charge
         where ${isHeld} and (${isNew} or reference in (select reference from prolonged))`,
        [owner, forMs],
      );
      return Number(row?.held);
    },
    nextDue(after, cartId) {
      const which = cartId === undefined ? "next_try_at <= now()" : "cart_id = $2";
      return oneCharge(
        `select * from giftcard_charge where reference > $1 and ${isLeft(recoverableStates)} and ${which} order by reference limit 1`,
        cartId === undefined ? [after] : [after, cartId],
      );
    },
    claim: (reference, lease, states = recoverableStates) =>
      oneCharge(
        `update giftcard_charge set lease_owner = $2, lease_until = now() + ${ms("$3")}
         where reference = $1 and ${isLeft(states)} returning *`,
        [reference, lease.owner, lease.forMs],
        [
          `select * from giftcard_charge where reference = $1 and lease_owner = $2 and state in (${sqlList(states)})`,
          [reference, lease.owner],
        ],
      ),
    async release(reference, owner) {
      await query(
        "update giftcard_charge set lease_owner = null, lease_until = null where reference = $1 and lease_owner = $2",
        [reference, owner],
      );
    },
    ...createOperatorQueries(database),
    async purge() {
      await query(
        `update giftcard_tender set sealed_card = null, updated_at = now()
         where sealed_card is not null and expires_at <= now()`,
        [],
      );
      // A quote that was applied, charged and put back has a charge that refers to it.
      await query(
        `delete from giftcard_tender where state = 'quoted' and expires_at <= now()
           and not exists (select 1 from giftcard_charge where tender_id = giftcard_tender.id)`,
        [],
      );
      await query(
        `update giftcard_tender set state = 'removed', updated_at = now()
         where state = 'applied' and expires_at <= now() - ${ms(30 * DAY_MS)}`,
        [],
      );
      await query("delete from giftcard_guess where resets_at <= now()", []);
      await query(
        `update giftcard_charge set sealed_card = null, updated_at = now()
         where sealed_card is not null and created_at <= now() - ${ms(DAY_MS)}`,
        [],
      );
    },
  };
}
