import type { Cents } from "@giftcard-pay/client";
import {
  type Attempt,
  type AttemptState,
  type Journal,
  livingStates,
  type Move,
  type Tender,
} from "./journal.js";

/** Runs one SQL statement with `$1` placeholders on PostgreSQL, commits it, and returns its rows. */
export type RunSql = (text: string, params: unknown[]) => Promise<Record<string, unknown>[]>;

const attemptStates: readonly AttemptState[] = [...livingStates, "reversed", "refused"];
/** What recovery ends. A committed or captured attempt belongs to an order, and a person ends what needs attention. */
const recoverableStates: readonly AttemptState[] = ["intent", "sent", "devalued", "unknown", "reversing"];
const list = (states: readonly string[]) => states.map((s) => `'${s}'`).join(", ");

/** The tables, as plain PostgreSQL. Every statement may be run again. */
export const journalSchema: { readonly up: readonly string[]; readonly down: readonly string[] } = {
  up: [
    `create table if not exists giftcard_tender (
      id text primary key,
      cart_id text not null,
      state text not null check (state in ('quoted', 'applied', 'charging', 'spent', 'removed')),
      last_four text not null,
      fingerprint text not null,
      balance_cents bigint not null check (balance_cents >= 0),
      sealed_card text,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    "create index if not exists giftcard_tender_cart on giftcard_tender (cart_id)",
    "create index if not exists giftcard_tender_expiry on giftcard_tender (expires_at) where sealed_card is not null",
    `create unique index if not exists giftcard_tender_card_once on giftcard_tender (cart_id, fingerprint)
      where state in ('applied', 'charging')`,
    `create table if not exists giftcard_attempt (
      reference text primary key,
      tender_id text not null references giftcard_tender (id),
      cart_id text not null,
      external_id text not null unique,
      order_id text,
      environment text not null check (environment in ('live', 'sandbox')),
      base_url text not null,
      company_id integer not null,
      state text not null check (state in (${list(attemptStates)})),
      last_four text not null,
      amount_cents integer not null check (amount_cents between 1 and 5000),
      deducted_cents integer check (deducted_cents between 1 and amount_cents),
      sealed_card text,
      sealed_token text,
      reason text,
      balance_before_cents bigint not null,
      balance_after_cents bigint,
      balance_after_at timestamptz,
      lease_owner text,
      lease_until timestamptz,
      next_try_at timestamptz not null default now(),
      tries integer not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      sent_at timestamptz,
      devalued_at timestamptz,
      reversed_at timestamptz,
      check (state not in ('devalued', 'committed', 'captured') or (deducted_cents is not null and sealed_token is not null))
    )`,
    "create index if not exists giftcard_attempt_cart on giftcard_attempt (cart_id)",
    "create index if not exists giftcard_attempt_order on giftcard_attempt (order_id)",
    `create unique index if not exists giftcard_attempt_one_alive on giftcard_attempt (tender_id)
      where state in (${list(livingStates)})`,
    `create index if not exists giftcard_attempt_open on giftcard_attempt (next_try_at)
      where state in (${list(recoverableStates)})`,
  ],
  down: ["drop table if exists giftcard_attempt", "drop table if exists giftcard_tender"],
};

const ms = (param: string) => `(${param}::float8 * interval '1 millisecond')`;
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
             state, last_four, amount_cents, sealed_card, balance_before_cents, lease_owner, lease_until)
           select $1, id, cart_id, $4, $5, $6, $7, 'intent', last_four, $8, $9, balance_cents, $10, now() + ${ms("$11")}
           from tender returning *`,
          [
            ...[a.reference, a.tenderId, a.cartId, a.externalId, a.environment, a.baseUrl, a.companyId],
            ...[a.amountCents, a.sealedCard, lease.owner, lease.forMs],
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
      const rows = await run(
        `update giftcard_attempt set lease_until = now() + ${ms("$2")}
         where lease_owner = $1 and state in (${list(recoverableStates)}) returning reference`,
        [owner, forMs],
      );
      return rows.length;
    },
    async claim(lease, limit, cartId) {
      const which = cartId === undefined ? "next_try_at <= now()" : "cart_id = $4";
      const rows = await run(
        `update giftcard_attempt set lease_owner = $1, lease_until = now() + ${ms("$2")}
         where reference in (
           select reference from giftcard_attempt
           where state in (${list(recoverableStates)}) and ${which} and (lease_until is null or lease_until <= now())
           order by next_try_at limit $3 for update skip locked
         ) returning *`,
        [lease.owner, lease.forMs, limit, ...(cartId === undefined ? [] : [cartId])],
      );
      return rows.map(toAttempt);
    },
    async purge() {
      await run(
        `update giftcard_tender set sealed_card = null, updated_at = now()
         where sealed_card is not null and expires_at <= now()`,
        [],
      );
      await run("delete from giftcard_tender where state = 'quoted' and expires_at <= now()", []);
      await run(
        `update giftcard_attempt set sealed_card = null, updated_at = now()
         where sealed_card is not null and created_at <= now() - interval '24 hours'`,
        [],
      );
    },
  };
}

/** A devalue that took less than asked took all that was there: that is the balance, once it is back. */
const lessThanAsked = `, balance_cents = case when attempt.deducted_cents < attempt.amount_cents
  then attempt.deducted_cents else giftcard_tender.balance_cents end`;

/** One statement: the attempt's change and what follows from it for the tender, so that they can't differ. */
function moveStatement(reference: string, move: Move): [string, unknown[]] {
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
    where reference = ${target} and state in (${list(move.from)}) ${owner} returning *`;
  const tenderState = { committed: "spent", refused: "applied", reversed: "applied" }[move.to as string];
  if (!tenderState) return [change, params];
  return [
    `with attempt as (${change}), tender as (
       update giftcard_tender set state = '${tenderState}', updated_at = now()
         ${tenderState === "spent" ? ", sealed_card = null" : ""}
         ${move.to === "reversed" ? lessThanAsked : ""}
       from attempt where giftcard_tender.id = attempt.tender_id and giftcard_tender.state = 'charging'
     ) select * from attempt`,
    params,
  ];
}

function isUniqueViolation(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "23505";
}

function toTender(row: Record<string, unknown>): Tender {
  return {
    id: String(row.id),
    cartId: String(row.cart_id),
    state: row.state as Tender["state"],
    lastFour: String(row.last_four),
    balanceCents: Number(row.balance_cents) as Cents,
    sealedCard: row.sealed_card as string | null,
    expired: row.expired as boolean,
    createdAt: new Date(row.created_at as string),
  };
}

function toAttempt(row: Record<string, unknown>): Attempt {
  const when = (value: unknown) => (value === null ? null : new Date(value as string));
  const amount = (value: unknown) => (value === null ? null : (Number(value) as Cents));
  return {
    reference: String(row.reference),
    tenderId: String(row.tender_id),
    cartId: String(row.cart_id),
    externalId: String(row.external_id),
    orderId: row.order_id as string | null,
    environment: String(row.environment),
    baseUrl: String(row.base_url),
    companyId: Number(row.company_id),
    state: row.state as AttemptState,
    lastFour: String(row.last_four),
    amountCents: Number(row.amount_cents) as Cents,
    deductedCents: amount(row.deducted_cents),
    sealedCard: row.sealed_card as string | null,
    sealedToken: row.sealed_token as string | null,
    reason: row.reason as string | null,
    balanceBeforeCents: Number(row.balance_before_cents) as Cents,
    balanceAfterCents: amount(row.balance_after_cents),
    balanceAfterAt: when(row.balance_after_at),
    leaseOwner: row.lease_owner as string | null,
    tries: Number(row.tries),
    createdAt: new Date(row.created_at as string),
    sentAt: when(row.sent_at),
    devaluedAt: when(row.devalued_at),
    reversedAt: when(row.reversed_at),
  };
}
