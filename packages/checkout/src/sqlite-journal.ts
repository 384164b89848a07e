import type { DatabaseSync } from "node:sqlite";
import {
  type ActionRecord,
  type AttemptFilter,
  type AttemptState,
  attemptStates,
  type Journal,
  type Move,
  type SealedValue,
} from "./journal.js";
import { recoverableStates, sqlList } from "./sql-journal-schema.js";
import { toAttempt, toTender } from "./sql-rows.js";

type Row = Record<string, unknown>;
type Value = string | number | null;

const DAY_MS = 24 * 60 * 60_000;

/** The same tables as on PostgreSQL; times are milliseconds since 1970. */
const schema = `
  create table if not exists giftcard_tender (
    id text primary key, cart_id text not null,
    state text not null check (state in ('quoted', 'applied', 'charging', 'spent', 'removed')),
    last_four text not null, fingerprint text not null,
    balance_cents integer not null check (balance_cents >= 0), sealed_card text,
    expires_at integer not null, created_at integer not null, updated_at integer not null
  ) strict;
  create index if not exists giftcard_tender_cart on giftcard_tender (cart_id);
  create unique index if not exists giftcard_tender_card_once on giftcard_tender (cart_id, fingerprint)
    where state in ('applied', 'charging');
  create table if not exists giftcard_attempt (
    reference text primary key, tender_id text not null references giftcard_tender (id), cart_id text not null,
    external_id text not null unique, order_id text,
    environment text not null check (environment in ('live', 'sandbox')), base_url text not null,
    company_id integer not null, state text not null check (state in (${sqlList(attemptStates)})),
    last_four text not null, amount_cents integer not null check (amount_cents between 1 and 5000),
    deducted_cents integer check (deducted_cents between 1 and amount_cents), sealed_card text, sealed_token text,
    reason text, balance_before_cents integer not null, balance_after_cents integer, balance_after_at integer,
    lease_owner text, lease_until integer, next_try_at integer not null, tries integer not null default 0,
    created_at integer not null, updated_at integer not null, sent_at integer, devalued_at integer,
    reversed_at integer,
    check (state not in ('devalued', 'committed', 'captured') or (deducted_cents is not null and sealed_token is not null))
  ) strict;
  create index if not exists giftcard_attempt_cart on giftcard_attempt (cart_id);
  create index if not exists giftcard_attempt_order on giftcard_attempt (order_id);
  create index if not exists giftcard_attempt_state on giftcard_attempt (state, created_at);
  create unique index if not exists giftcard_attempt_one_alive on giftcard_attempt (tender_id)
    where state not in ('reversed', 'refused', 'taken');
  create table if not exists giftcard_action (
    id integer primary key, reference text not null references giftcard_attempt (reference), action text not null,
    actor text not null, from_state text not null, to_state text not null, created_at integer not null
  ) strict;
  create table if not exists giftcard_guess (
    key text primary key, count integer not null, resets_at integer not null
  ) strict;`;

/** Every sealed value that may still be opened, as `SealedValue`s. */
const livingSeals = (nowMs: number) => `
  select 'giftcard_tender' as "table", 'sealed_card' as "column", id, sealed_card as sealed from giftcard_tender
    where sealed_card is not null and expires_at > ${nowMs}
  union all
  select 'giftcard_attempt', 'sealed_card', reference, sealed_card from giftcard_attempt
    where sealed_card is not null and created_at > ${nowMs - DAY_MS}
  union all
  select 'giftcard_attempt', 'sealed_token', reference, sealed_token from giftcard_attempt
    where sealed_token is not null and state not in ('reversed', 'refused', 'taken')`;

/** A JWE begins with its header in base64url, and the header names the key. */
const keyIdOf = (sealed: string): string =>
  String(JSON.parse(Buffer.from(sealed.split(".", 1)[0] ?? "", "base64url").toString()).kid);

/** What the stores in SQLite do with a database. */
export function openSqlite(database: DatabaseSync) {
  const all = (sql: string, ...values: Value[]) => database.prepare(sql).all(...values) as Row[];
  const one = (sql: string, ...values: Value[]) => database.prepare(sql).get(...values) as Row | undefined;
  const run = (sql: string, ...values: Value[]) => Number(database.prepare(sql).run(...values).changes);
  const now = () => Number(one("select cast(unixepoch('subsec') * 1000 as integer) as now")?.now);

  /** Nobody else writes while it runs, so what was read is still true when it is changed. */
  function alone<T>(work: (nowMs: number) => T): T {
    database.exec("begin immediate");
    try {
      const result = work(now());
      database.exec("commit");
      return result;
    } catch (error) {
      database.exec("rollback");
      throw error;
    }
  }

  return { all, one, run, now, alone };
}

export type Sqlite = ReturnType<typeof openSqlite>;

/**
 * The journal in one SQLite file, for a shop on one machine; several processes may share the file. Each change is one
 * transaction, on disk when it returns.
 *
 * @param database an open database of its own; the tables are made if they aren't there
 */
export function createSqliteJournal(database: DatabaseSync): Journal {
  // First of all, since the next ones may already meet another process.
  database.exec("pragma busy_timeout = 10000; pragma journal_mode = wal; pragma synchronous = full");
  database.exec(`pragma foreign_keys = on; ${schema}`);
  const { all, one, run, now, alone } = openSqlite(database);
  const insert = (table: string, row: Record<string, Value>) => {
    const columns = Object.keys(row);
    const values = columns.map(() => "?").join(", ");
    return run(`insert into ${table} (${columns.join(", ")}) values (${values})`, ...Object.values(row));
  };

  const readAttempt = (column: "reference" | "external_id", value: string) => {
    const row = one(`select * from giftcard_attempt where ${column} = ?`, value);
    return row ? toAttempt(row) : null;
  };

  function change(reference: string, move: Move, nowMs: number): boolean {
    const row = one(
      "select state, lease_owner, tries, tender_id from giftcard_attempt where reference = ?",
      reference,
    );
    if (!row || !move.from.includes(row.state as AttemptState)) return false;
    if (move.owner !== undefined && row.lease_owner !== move.owner) return false;
    const set = columnsOf(move, Number(row.tries), nowMs);
    const columns = Object.keys(set).map((column) => `${column} = ?`);
    run(
      `update giftcard_attempt set ${columns.join(", ")} where reference = ?`,
      ...Object.values(set),
      reference,
    );
    followTender(reference, String(row.tender_id), move, nowMs);
    return true;
  }

  function followTender(reference: string, tenderId: string, move: Move, nowMs: number): void {
    const state = { committed: "spent", taken: "spent", refused: "applied", reversed: "applied" }[
      move.to as string
    ];
    if (!state) return;
    const charging = "where id = ? and state = 'charging'";
    if (move.to === "reversed") {
      // A card that held less than asked for is found with what it held.
      run(
        `update giftcard_tender set balance_cents = coalesce((select deducted_cents from giftcard_attempt
           where reference = ? and deducted_cents < amount_cents), balance_cents) ${charging}`,
        reference,
        tenderId,
      );
    }
    if (move.reason === "card_no_balance")
      run(`update giftcard_tender set balance_cents = 0 ${charging}`, tenderId);
    const card = state === "spent" ? ", sealed_card = null" : "";
    run(`update giftcard_tender set state = ?, updated_at = ? ${card} ${charging}`, state, nowMs, tenderId);
  }

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
          sealed_card: tender.sealedCard,
          expires_at: nowMs + lifeMs,
          created_at: nowMs,
          updated_at: nowMs,
        }),
      );
    },
    async applyQuote(cartId, tenderId, quoteLifeMs) {
      return alone((nowMs) => {
        const row = one("select * from giftcard_tender where cart_id = ? and id = ?", cartId, tenderId);
        if (row?.state === "applied") return "applied";
        const inTime = Number(row?.expires_at) > nowMs && Number(row?.created_at) > nowMs - quoteLifeMs;
        if (row?.state !== "quoted" || !inTime) return "gone";
        const same = one(
          `select id, state, expires_at from giftcard_tender where cart_id = ? and fingerprint = ?
             and state in ('applied', 'charging')`,
          cartId,
          String(row.fingerprint),
        );
        if (same && (same.state === "charging" || Number(same.expires_at) > nowMs)) return "duplicate";
        if (same)
          run(
            "update giftcard_tender set state = 'removed', sealed_card = null where id = ?",
            String(same.id),
          );
        run("update giftcard_tender set state = 'applied', updated_at = ? where id = ?", nowMs, tenderId);
        return "applied";
      });
    },
    async removeTender(cartId, tenderId) {
      return alone((nowMs) => {
        const row = one("select state from giftcard_tender where cart_id = ? and id = ?", cartId, tenderId);
        if (row?.state === "charging") return "charging";
        if (row?.state !== "applied" && row?.state !== "quoted") return "gone";
        run(
          "update giftcard_tender set state = 'removed', sealed_card = null, updated_at = ? where id = ?",
          nowMs,
          tenderId,
        );
        return "removed";
      });
    },
    async tender(tenderId) {
      const row = one(
        "select *, expires_at <= ? as expired from giftcard_tender where id = ?",
        now(),
        tenderId,
      );
      return row ? toTender({ ...row, expired: row.expired === 1 }) : null;
    },
    async tenders(cartId) {
      const rows = all(
        `select *, expires_at <= ? as expired from giftcard_tender
           where cart_id = ? and state in ('applied', 'charging') order by created_at, rowid`,
        now(),
        cartId,
      );
      return rows.map((row) => toTender({ ...row, expired: row.expired === 1 }));
    },
    async holdsCard(cartId, fingerprints) {
      const row = one(
        `select 1 from giftcard_tender where cart_id = ? and fingerprint in (${fingerprints.map(() => "?").join(", ")})
           and (state = 'charging' or (state = 'applied' and expires_at > ?))`,
        cartId,
        ...fingerprints,
        now(),
      );
      return row !== undefined;
    },
    async begin(a, lease) {
      return alone((nowMs) => {
        const tender = one(
          "select * from giftcard_tender where id = ? and cart_id = ? and state = 'applied' and expires_at > ?",
          a.tenderId,
          a.cartId,
          nowMs,
        );
        if (!tender || readAttempt("external_id", a.externalId) || readAttempt("reference", a.reference))
          return null;
        run("update giftcard_tender set state = 'charging', updated_at = ? where id = ?", nowMs, a.tenderId);
        insert("giftcard_attempt", {
          reference: a.reference,
          tender_id: a.tenderId,
          cart_id: a.cartId,
          external_id: a.externalId,
          order_id: a.orderId ?? null,
          environment: a.environment,
          base_url: a.baseUrl,
          company_id: a.companyId,
          state: "intent",
          last_four: String(tender.last_four),
          amount_cents: a.amountCents,
          sealed_card: a.sealedCard,
          balance_before_cents: Number(tender.balance_cents),
          lease_owner: lease.owner,
          lease_until: nowMs + lease.forMs,
          next_try_at: nowMs,
          created_at: nowMs,
          updated_at: nowMs,
        });
        return readAttempt("reference", a.reference);
      });
    },
    attempt: async (reference) => readAttempt("reference", reference),
    attemptByExternalId: async (externalId) => readAttempt("external_id", externalId),
    async attemptsOfCart(cartId) {
      const rows = all(
        "select * from giftcard_attempt where cart_id = ? order by created_at desc, rowid desc",
        cartId,
      );
      return rows.map(toAttempt);
    },
    async move(reference, move) {
      return alone((nowMs) => (change(reference, move, nowMs) ? readAttempt("reference", reference) : null));
    },
    async renew(owner, forMs) {
      return alone((nowMs) =>
        run(
          `update giftcard_attempt set lease_until = ? where lease_owner = ? and state in (${sqlList(recoverableStates)})`,
          nowMs + forMs,
          owner,
        ),
      );
    },
    async claim(lease, limit, cartId) {
      return alone((nowMs) => {
        const which = cartId === undefined ? "next_try_at <= ?" : "cart_id = ?";
        const rows = all(
          `select reference from giftcard_attempt where state in (${sqlList(recoverableStates)}) and ${which}
             and (lease_until is null or lease_until <= ?) order by next_try_at limit ?`,
          cartId ?? nowMs,
          nowMs,
          limit,
        );
        return rows.flatMap(({ reference }) => {
          const id = String(reference);
          const until = nowMs + lease.forMs;
          run(
            "update giftcard_attempt set lease_owner = ?, lease_until = ? where reference = ?",
            lease.owner,
            until,
            id,
          );
          return readAttempt("reference", id) ?? [];
        });
      });
    },
    async list({ limit = 50, offset = 0, ...filter }) {
      const [condition, values] = conditionOf(filter);
      const matching = `from giftcard_attempt where ${condition}`;
      const count = Number(one(`select count(*) as count ${matching}`, ...values)?.count);
      const page = "order by state = 'needs_attention' desc, created_at desc, rowid desc limit ? offset ?";
      return {
        attempts: all(`select * ${matching} ${page}`, ...values, limit, offset).map(toAttempt),
        count,
      };
    },
    async readPage(filter, after, limit) {
      const [condition, values] = conditionOf(filter);
      const rows = all(
        `select * from giftcard_attempt where reference > ? and ${condition} order by reference limit ?`,
        ...[after, ...values, limit],
      );
      return rows.map(toAttempt);
    },
    async attemptsOfCard(reference) {
      const rows = all(
        `select a.* from giftcard_attempt a join giftcard_tender t on t.id = a.tender_id
           where t.fingerprint = (select fingerprint from giftcard_tender
             where id = (select tender_id from giftcard_attempt where reference = ?))
           order by a.created_at desc, a.rowid desc`,
        reference,
      );
      return rows.map(toAttempt);
    },
    async countByState() {
      const rows = all("select state, count(*) as count from giftcard_attempt group by state");
      return Object.fromEntries(rows.map((row) => [row.state as AttemptState, Number(row.count)]));
    },
    async act(reference, move, { action, actor }) {
      return alone((nowMs) => {
        const from = move.from[0];
        if (from === undefined || move.from.length > 1)
          throw new TypeError("An action leaves exactly one state.");
        if (!change(reference, move, nowMs)) return null;
        const record = { reference, action, actor, from_state: from, to_state: move.to, created_at: nowMs };
        insert("giftcard_action", record);
        return readAttempt("reference", reference);
      });
    },
    async actions(reference) {
      return all("select * from giftcard_action where reference = ? order by id", reference).map(
        (row): ActionRecord => ({
          reference,
          action: row.action as ActionRecord["action"],
          actor: String(row.actor),
          fromState: row.from_state as AttemptState,
          toState: row.to_state as AttemptState,
          createdAt: new Date(Number(row.created_at)),
        }),
      );
    },
    async takeGuess(limits, windowMs) {
      return alone((nowMs) => {
        const waits = limits.map(({ key, max }) => {
          const old = one("select * from giftcard_guess where key = ? and resets_at > ?", key, nowMs);
          const [count, resetsAt] = old
            ? [Number(old.count) + 1, Number(old.resets_at)]
            : [1, nowMs + windowMs];
          run(
            "insert or replace into giftcard_guess (key, count, resets_at) values (?, ?, ?)",
            key,
            count,
            resetsAt,
          );
          return count > max ? Math.max(1, Math.ceil((resetsAt - nowMs) / 1000)) : 0;
        });
        return Math.max(0, ...waits);
      });
    },
    async returnGuess(limits) {
      alone((nowMs) => {
        for (const { key } of limits) {
          run(
            "update giftcard_guess set count = max(count - 1, 0) where key = ? and resets_at > ?",
            key,
            nowMs,
          );
        }
      });
    },
    async sealCounts() {
      const counts: Record<string, number> = {};
      for (const { sealed } of all(livingSeals(now()))) {
        const keyId = keyIdOf(String(sealed));
        counts[keyId] = (counts[keyId] ?? 0) + 1;
      }
      return counts;
    },
    async sealedUnderOther(keyId, limit) {
      const values = all(livingSeals(now())) as unknown as SealedValue[];
      return values.filter(({ sealed }) => keyIdOf(sealed) !== keyId).slice(0, limit);
    },
    async replaceSealed({ table, column, id, sealed: before }, sealed) {
      const key = table === "giftcard_tender" ? "id" : "reference";
      const where = `where ${key} = ? and ${column} = ?`;
      return (
        alone((nowMs) =>
          run(`update ${table} set ${column} = ?, updated_at = ? ${where}`, sealed, nowMs, id, before),
        ) === 1
      );
    },
    async purge() {
      alone((nowMs) => {
        run(
          "update giftcard_tender set sealed_card = null where sealed_card is not null and expires_at <= ?",
          nowMs,
        );
        run("delete from giftcard_tender where state = 'quoted' and expires_at <= ?", nowMs);
        run(
          "update giftcard_tender set state = 'removed', updated_at = ? where state = 'applied' and expires_at <= ?",
          nowMs,
          nowMs - 30 * DAY_MS,
        );
        run("delete from giftcard_guess where resets_at <= ?", nowMs);
        run(
          "update giftcard_attempt set sealed_card = null where sealed_card is not null and created_at <= ?",
          nowMs - DAY_MS,
        );
      });
    },
  };
}

/** What a filter says, as a condition with its values. */
function conditionOf(filter: AttemptFilter): [string, Value[]] {
  const { states, orderIds, from, to, moved, environment, companyId } = filter;
  const where = ["true"];
  const values: Value[] = [];
  const add = (condition: string, ...more: Value[]) => {
    where.push(condition);
    values.push(...more);
  };
  const oneOf = (texts: readonly string[]) => `in (${texts.map(() => "?").join(", ")})`;
  if (states) add(`state ${oneOf(states)}`, ...states);
  if (orderIds) add(`order_id ${oneOf(orderIds)}`, ...orderIds);
  if (from) add("created_at >= ?", from.getTime());
  if (to) add("created_at < ?", to.getTime());
  if (environment !== undefined) add("environment = ?", environment);
  if (companyId !== undefined) add("company_id = ?", companyId);
  if (moved) {
    const [start, end] = [moved.from.getTime(), moved.to.getTime()];
    const took = "coalesce(devalued_at, sent_at) >= ? and coalesce(devalued_at, sent_at) < ?";
    add(`(${took} or reversed_at >= ? and reversed_at < ?)`, start, end, start, end);
  }
  return [where.join(" and "), values];
}

/** What a move writes into its attempt. */
function columnsOf(move: Move, tries: number, nowMs: number): Record<string, Value> {
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
  if (move.retryInMs !== undefined) {
    set.tries = tries + 1;
    set.next_try_at = nowMs + move.retryInMs;
  }
  if (move.to === "sent") set.sent_at = nowMs;
  if (move.to === "devalued") set.devalued_at = nowMs;
  if (move.to === "reversed") set.reversed_at = nowMs;
  return set;
}
