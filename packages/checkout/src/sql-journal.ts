import type { Journal } from "./journal.js";
import { createSqlDesk } from "./sql-journal-desk.js";
import { recoverableStates, sqlList } from "./sql-journal-schema.js";
import { moveStatement, ms } from "./sql-move.js";
import { toAttempt, toTender } from "./sql-rows.js";

/** Runs one SQL statement with `$1` placeholders on PostgreSQL, commits it, and returns its rows. */
export type RunSql = (text: string, params: unknown[]) => Promise<Record<string, unknown>[]>;

const tenderColumns =
  "id, cart_id, state, last_four, balance_cents, sealed_card, expires_at <= now() as expired, created_at";

/**
 * The journal on PostgreSQL. Each change is one statement, so it is atomic whatever runs beside it, and leases and
 * lives are judged by the database's clock.
 */
export function createSqlJournal(run: RunSql): Journal {
  const one = async (text: string, params: unknown[]) => (await run(text, params))[0];
  const oneAttempt = async (text: string, params: unknown[]) => {
    const row = await one(text, params);
    return row ? toAttempt(row) : null;
  };

  return {
    async now() {
      const row = await one("select clock_timestamp() as now", []);
      return new Date(row?.now as string);
    },
    async addQuote(tender, lifeMs) {
      await run(
        `insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, sealed_card, expires_at)
         values ($1, $2, 'quoted', $3, $4, $5, $6, now() + ${ms("$7")})`,
        [
          tender.id,
          tender.cartId,
          tender.lastFour,
          tender.fingerprint,
          tender.balanceCents,
          tender.sealedCard,
          lifeMs,
        ],
      );
    },
    async applyQuote(cartId, tenderId, quoteLifeMs) {
      try {
        await run(
          `update giftcard_tender old set state = 'removed', sealed_card = null, updated_at = now()
           from giftcard_tender fresh
           where fresh.id = $2 and fresh.cart_id = $1 and fresh.state = 'quoted' and old.cart_id = $1
             and old.fingerprint = fresh.fingerprint and old.state = 'applied' and old.expires_at <= now()`,
          [cartId, tenderId],
        );
        const row = await one(
          `update giftcard_tender set state = 'applied', updated_at = now()
           where cart_id = $1 and id = $2 and state = 'quoted' and expires_at > now()
             and created_at > now() - ${ms("$3")} returning id`,
          [cartId, tenderId, quoteLifeMs],
        );
        if (row) return "applied";
        // Another call may have applied it a moment ago: done twice it is done once.
        const now = await one("select state from giftcard_tender where cart_id = $1 and id = $2", [
          cartId,
          tenderId,
        ]);
        return now?.state === "applied" ? "applied" : "gone";
      } catch (error) {
        if (isUniqueViolation(error)) return "duplicate";
        throw error;
      }
    },
    async removeTender(cartId, tenderId) {
      const removed = await one(
        `update giftcard_tender set state = 'removed', sealed_card = null, updated_at = now()
         where cart_id = $1 and id = $2 and state in ('applied', 'quoted') returning id`,
        [cartId, tenderId],
      );
      if (removed) return "removed";
      const row = await one("select state from giftcard_tender where cart_id = $1 and id = $2", [
        cartId,
        tenderId,
      ]);
      return row?.state === "charging" ? "charging" : "gone";
    },
    async tender(tenderId) {
      const row = await one(`select ${tenderColumns} from giftcard_tender where id = $1`, [tenderId]);
      return row ? toTender(row) : null;
    },
    async tenders(cartId) {
      const rows = await run(
        `select ${tenderColumns} from giftcard_tender
         where cart_id = $1 and state in ('applied', 'charging') order by created_at, id`,
        [cartId],
      );
      return rows.map(toTender);
    },
    async holdsCard(cartId, fingerprints) {
      const row = await one(
        `select 1 as found from giftcard_tender where cart_id = $1 and fingerprint = any($2::text[])
           and (state = 'charging' or (state = 'applied' and expires_at > now())) limit 1`,
        [cartId, [...fingerprints]],
      );
      return row !== undefined;
    },
    async begin(a, lease) {
      try {
        return await oneAttempt(
          `with tender as (
             update giftcard_tender set state = 'charging', updated_at = now()
             where id = $2 and cart_id = $3 and state = 'applied' and expires_at > now() returning *
           )
           insert into giftcard_attempt (reference, tender_id, cart_id, external_id, environment, base_url, company_id,
             order_id, state, last_four, amount_cents, sealed_card, balance_before_cents, lease_owner, lease_until)
           select $1, id, cart_id, $4, $5, $6, $7, $12, 'intent', last_four, $8, $9, balance_cents, $10, now() + ${ms("$11")}
           from tender returning *`,
          [
            ...[a.reference, a.tenderId, a.cartId, a.externalId, a.environment, a.baseUrl, a.companyId],
            ...[a.amountCents, a.sealedCard, lease.owner, lease.forMs, a.orderId ?? null],
          ],
        );
      } catch (error) {
        if (isUniqueViolation(error)) return null;
        throw error;
      }
    },
    attempt: (reference) => oneAttempt("select * from giftcard_attempt where reference = $1", [reference]),
    attemptByExternalId: (id) => oneAttempt("select * from giftcard_attempt where external_id = $1", [id]),
    async attemptsOfCart(cartId) {
      const rows = await run(
        "select * from giftcard_attempt where cart_id = $1 order by created_at desc, reference",
        [cartId],
      );
      return rows.map(toAttempt);
    },
    move: (reference, move) => oneAttempt(...moveStatement(reference, move)),
    async renew(owner, forMs) {
      const isHeld = `lease_owner = $1 and state in (${sqlList(recoverableStates)})`;
      const isNew = `lease_until >= now() + 0.9 * ${ms("$2")}`;
      // A lease that is all but new is only looked at, which costs no commit.
      const row = await one(
        `with prolonged as (
           update giftcard_attempt set lease_until = now() + ${ms("$2")}
           where ${isHeld} and not ${isNew} returning reference
         )
         select (select count(*) from prolonged)
           + (select count(*) from giftcard_attempt where ${isHeld} and ${isNew}) as held`,
        [owner, forMs],
      );
      return Number(row?.held);
    },
    async claim(lease, limit, cartId) {
      const which = cartId === undefined ? "next_try_at <= now()" : "cart_id = $4";
      const rows = await run(
        `update giftcard_attempt set lease_owner = $1, lease_until = now() + ${ms("$2")}
         where reference in (
           select reference from giftcard_attempt
           where state in (${sqlList(recoverableStates)}) and ${which} and (lease_until is null or lease_until <= now())
           order by next_try_at limit $3 for update skip locked
         ) returning *`,
        [lease.owner, lease.forMs, limit, ...(cartId === undefined ? [] : [cartId])],
      );
      return rows.map(toAttempt);
    },
    ...createSqlDesk(run),
    async purge() {
      await run(
        `update giftcard_tender set sealed_card = null, updated_at = now()
         where sealed_card is not null and expires_at <= now()`,
        [],
      );
      await run("delete from giftcard_tender where state = 'quoted' and expires_at <= now()", []);
      await run(
        `update giftcard_tender set state = 'removed', updated_at = now()
         where state = 'applied' and expires_at <= now() - interval '30 days'`,
        [],
      );
      await run("delete from giftcard_guess where resets_at <= now()", []);
      await run(
        `update giftcard_attempt set sealed_card = null, updated_at = now()
         where sealed_card is not null and created_at <= now() - interval '24 hours'`,
        [],
      );
    },
  };
}

function isUniqueViolation(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "23505";
}
