import type { ChargeState, Move } from "../charge.js";
import { recoverableStates } from "../charge-states.js";
import type { Journal } from "../journal.js";
import { sqlList, toCharge, toTender } from "../rows.js";
import { onCartStates } from "../tender.js";
import { freeSlot, isCharged, movedCharges, moveStatement } from "./move.js";
import { createSqlOperatorQueries } from "./operator-queries.js";
import { isUniqueViolation, type Sql, sqlInterval } from "./sql.js";

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
const applyStatement = `
  with fresh as (select * from giftcard_tender where cart_id = $1 and id = $2),
  decided as (
    select fresh.fingerprint, free.slot, case
      when fresh.state = 'applied' then 'applied'
      when fresh.state <> 'quoted' or fresh.expires_at <= now() or fresh.created_at <= now() - ${sqlInterval("$3")} then 'gone'
      when exists (select from giftcard_tender held where held.cart_id = $1 and held.fingerprint = fresh.fingerprint
        and held.state in (${sqlList(onCartStates)}) and not ${hasLapsed("held")}) then 'duplicate'
      when free.slot is null then 'full'
      else 'apply' end as outcome
    from fresh, (select ${freeSlot("$1", "$4", `not ${hasLapsed("held")}`)} as slot) free
  ),
  lapsed as (
    update giftcard_tender old set slot = null, updated_at = now(),
      state = case when old.fingerprint = decided.fingerprint then 'removed' else old.state end
    from decided where decided.outcome = 'apply' and old.cart_id = $1 and ${hasLapsed("old")}
      and (old.slot is not null or old.fingerprint = decided.fingerprint) returning 1
  ),
  applied as (
    update giftcard_tender set state = 'applied', slot = decided.slot, updated_at = now()
    from decided, (select count(*) from lapsed) roomy
    where decided.outcome = 'apply' and cart_id = $1 and id = $2 and state = 'quoted' returning 1
  )
  select case when outcome <> 'apply' then outcome when exists (select from applied) then 'applied' else 'overtaken' end
    as outcome from decided`;

/**
 * Makes the journal on PostgreSQL. Each change is a single statement, and therefore atomic. Leases and expiry use the
 * database's clock.
 */
export function createSqlJournal(sql: Sql): Journal {
  const first = async (...statement: Parameters<Sql>) => (await sql(...statement))[0];
  const charges = async (...statement: Parameters<Sql>) => (await sql(...statement)).map(toCharge);
  const oneCharge = async (...statement: Parameters<Sql>) => (await charges(...statement))[0] ?? null;

  const moveAll: Journal["moveAll"] = async (references, move) => {
    const { restore, ...alone } = move;
    const changed = async (how: Move) => {
      const moved = await charges(...moveStatement(references, how), movedCharges(references, how));
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
      const row = await first("select clock_timestamp() as now", []);
      return new Date(row?.now as string);
    },
    async addQuote(tender, lifeMs) {
      await sql(
        `insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expiry_date, sealed_card, expires_at)
         values ($1, $2, 'quoted', $3, $4, $5, $6, $7, now() + ${sqlInterval("$8")})
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
          const row = await first(applyStatement, [cartId, tenderId, quoteLifeMs, maxCards]);
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
           where id = $1 and state = $4 and (not $6 or free.slot is not null) returning id`,
          [id, stored, sealedCard, from, maxCards, stored === "applied"],
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
      const rows = await sql(
        `select ${tenderColumns} from giftcard_tender
         where cart_id = $1 and state in (${sqlList(onCartStates)}) order by created_at, id`,
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
        orderId = null,
        environment,
        baseUrl,
        companyId,
        state = "intent",
      } = payment;
      const charges = payment.charges.map((charge, index) => ({
        reference: charge.reference,
        position: index + 1,
        amount_cents: charge.amountCents,
        sealed_card: charge.sealedCard,
        pieces: charge.pieces && JSON.stringify(charge.pieces),
      }));
      try {
        const rows = await sql(
          `with tender as (
             update giftcard_tender set state = 'charging', updated_at = now()
             where id = $1 and cart_id = $2 and state = 'applied' and expires_at > now() and sealed_card is not null
               and not ${isCharged("giftcard_tender")} returning *
           )
           insert into giftcard_charge (reference, tender_id, cart_id, external_id, position, pieces, order_id, environment,
             base_url, company_id, state, sent_at, last_four, amount_cents, sealed_card, balance_before_cents, lease_owner, lease_until)
           select new.reference, tender.id, tender.cart_id, $3, new.position, new.pieces, $4, $5, $6, $7, '${state}',
             ${state === "sent" ? "now()" : "null"}, tender.last_four, new.amount_cents, new.sealed_card, tender.balance_cents, $8, now() + ${sqlInterval("$9")}
           from tender, jsonb_to_recordset($10::jsonb)
             as new (reference text, position integer, pieces text, amount_cents integer, sealed_card text)
           order by new.position returning *`,
          [
            tenderId,
            cartId,
            externalId,
            orderId,
            environment,
            baseUrl,
            companyId,
            lease.owner,
            lease.forMs,
            JSON.stringify(charges),
          ],
          [
            "select * from giftcard_charge where reference = any($1::text[]) order by position",
            [charges.map(({ reference }) => reference)],
          ],
        );
        return rows.map(toCharge);
      } catch (error) {
        if (isUniqueViolation(error)) return [];
        throw error;
      }
    },
    charge: (reference) => oneCharge("select * from giftcard_charge where reference = $1", [reference]),
    chargesOfPayment: (id) => charges("select * from giftcard_charge where external_id = $1 order by position", [id]),
    chargesOfCart: (cartId) =>
      charges("select * from giftcard_charge where cart_id = $1 order by created_at desc, position desc, reference", [
        cartId,
      ]),
    move: async (reference, move) => (await moveAll([reference], move))?.[0] ?? null,
    moveAll,
    async renew(owner, forMs) {
      const isHeld = `lease_owner = $1 and state in (${sqlList(recoverableStates)})`;
      const isNew = `lease_until >= now() + 0.9 * ${sqlInterval("$2")}`;
      // A lease that is almost new is only read, which saves a write.
      const row = await first(
        `with prolonged as (
           update giftcard_charge set lease_until = now() + ${sqlInterval("$2")}
           where ${isHeld} and not ${isNew} returning reference
         )
         select (select count(*) from prolonged)
           + (select count(*) from giftcard_charge where ${isHeld} and ${isNew}) as held`,
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
        `update giftcard_charge set lease_owner = $2, lease_until = now() + ${sqlInterval("$3")}
         where reference = $1 and ${isLeft(states)} returning *`,
        [reference, lease.owner, lease.forMs],
        [
          `select * from giftcard_charge where reference = $1 and lease_owner = $2 and state in (${sqlList(states)})`,
          [reference, lease.owner],
        ],
      ),
    async release(reference, owner) {
      await sql(
        "update giftcard_charge set lease_owner = null, lease_until = null where reference = $1 and lease_owner = $2",
        [reference, owner],
      );
    },
    ...createSqlOperatorQueries(sql),
    async purge() {
      await sql(
        `update giftcard_tender set sealed_card = null, updated_at = now()
         where sealed_card is not null and expires_at <= now()`,
        [],
      );
      // A quote that was applied, charged and put back has a charge that refers to it.
      await sql(
        `delete from giftcard_tender where state = 'quoted' and expires_at <= now()
           and not exists (select 1 from giftcard_charge where tender_id = giftcard_tender.id)`,
        [],
      );
      await sql(
        `update giftcard_tender set state = 'removed', updated_at = now()
         where state = 'applied' and expires_at <= now() - interval '30 days'`,
        [],
      );
      await sql("delete from giftcard_guess where resets_at <= now()", []);
      await sql(
        `update giftcard_charge set sealed_card = null, updated_at = now()
         where sealed_card is not null and created_at <= now() - interval '24 hours'`,
        [],
      );
    },
  };
}
