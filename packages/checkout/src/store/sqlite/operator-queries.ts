import type { ChargeFilter, ChargeState } from "../charge.js";
import { type Binder, conditionOf, sortings } from "../charge-filter.js";
import { settledStates } from "../charge-states.js";
import type { SealedValue } from "../journal.js";
import { type OperatorQueries, sealIdOf } from "../operator-queries.js";
import { sqlList, toAction, toCharge } from "../rows.js";
import { DAY_MS, type Sqlite, type Value } from "./database.js";
import { createSqliteMoves } from "./move.js";

/** Selects all sealed values that are still needed, as `SealedValue`s. */
const livingSeals = (nowMs: number) => `
  select 'giftcard_tender' as "table", 'sealed_card' as "column", id, sealed_card as sealed from giftcard_tender
    where sealed_card is not null and expires_at > ${nowMs}
  union all
  select 'giftcard_charge', 'sealed_card', reference, sealed_card from giftcard_charge
    where sealed_card is not null and created_at > ${nowMs - DAY_MS}
  union all
  select 'giftcard_charge', 'sealed_token', reference, sealed_token from giftcard_charge
    where sealed_token is not null and state not in (${sqlList(settledStates)})
  union all
  select 'giftcard_secret', 'sealed', name, sealed from giftcard_secret`;

/** Reads the key from the header of a JWE, its first part in base64url. */
const keyIdOf = (sealed: string): string =>
  String(JSON.parse(Buffer.from(sealed.split(".", 1)[0] ?? "", "base64url").toString()).kid);

/** Makes the part of the journal in SQLite for operators and key rotation. */
export function createSqliteOperatorQueries(sqlite: Sqlite): OperatorQueries {
  const { all, first, run, now, alone, insert } = sqlite;
  const { changeAll, readCharge } = createSqliteMoves(sqlite);
  return {
    async list({ limit = 50, offset = 0, sort, ...filter }) {
      const [condition, values] = conditionWith(filter);
      const matching = `from giftcard_charge where ${condition}`;
      const count = Number(first(`select count(*) as count ${matching}`, ...values)?.count);
      const page = `order by ${sortings[sort ?? "attention"]} limit ? offset ?`;
      return {
        charges: all(`select * ${matching} ${page}`, ...values, limit, offset).map(toCharge),
        count,
      };
    },
    async readPage(filter, after, limit) {
      const [condition, values] = conditionWith(filter);
      const rows = all(
        `select * from giftcard_charge where reference > ? and ${condition} order by reference limit ?`,
        after,
        ...values,
        limit,
      );
      return rows.map(toCharge);
    },
    async chargesOfCard(reference) {
      const rows = all(
        `select charge.* from giftcard_charge charge join giftcard_tender t on t.id = charge.tender_id
           where t.fingerprint = (select fingerprint from giftcard_tender
             where id = (select tender_id from giftcard_charge where reference = ?))
           order by charge.created_at desc, charge.rowid desc`,
        reference,
      );
      return rows.map(toCharge);
    },
    async countByState() {
      const rows = all("select state, count(*) as count from giftcard_charge group by state");
      return Object.fromEntries(rows.map((row) => [row.state as ChargeState, Number(row.count)]));
    },
    async act(reference, move, { action, actor }) {
      return alone((nowMs) => {
        const from = move.from[0];
        if (from === undefined || move.from.length > 1) throw new TypeError("An action leaves exactly one state.");
        if (!changeAll([reference], move, nowMs)) return null;
        const record = { reference, action, actor, from_state: from, to_state: move.to, created_at: nowMs };
        insert("giftcard_action", record);
        return readCharge(reference);
      });
    },
    async actions(reference) {
      return all("select * from giftcard_action where reference = ? order by id", reference).map(toAction);
    },
    async takeGuess(limits, windowMs) {
      return alone((nowMs) => {
        const waits = limits.map(({ key, max }) => {
          const old = first("select * from giftcard_guess where key = ? and resets_at > ?", key, nowMs);
          const [count, resetsAt] = old ? [Number(old.count) + 1, Number(old.resets_at)] : [1, nowMs + windowMs];
          run("insert or replace into giftcard_guess (key, count, resets_at) values (?, ?, ?)", key, count, resetsAt);
          return count > max ? Math.max(1, Math.ceil((resetsAt - nowMs) / 1000)) : 0;
        });
        return Math.max(0, ...waits);
      });
    },
    async returnGuess(limits) {
      alone((nowMs) => {
        for (const { key } of limits) {
          run("update giftcard_guess set count = max(count - 1, 0) where key = ? and resets_at > ?", key, nowMs);
        }
      });
    },
    async keepSecret(name, sealed) {
      return alone((nowMs) => {
        const existing = first("select sealed from giftcard_secret where name = ?", name);
        if (existing) return String(existing.sealed);
        insert("giftcard_secret", { name, sealed, created_at: nowMs, updated_at: nowMs });
        return sealed;
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
      const where = `where ${sealIdOf[table]} = ? and ${column} = ?`;
      return (
        alone((nowMs) =>
          run(`update ${table} set ${column} = ?, updated_at = ? ${where}`, sealed, nowMs, id, before),
        ) === 1
      );
    },
  };
}

/** Returns the condition of a filter, with its values. */
function conditionWith(filter: ChargeFilter): [string, Value[]] {
  const values: Value[] = [];
  const one: Binder["one"] = (value) => {
    values.push(value instanceof Date ? value.getTime() : value);
    return "?";
  };
  const condition = conditionOf(filter, {
    one,
    anyOf: (texts) => `in (${texts.map(one).join(", ")})`,
    among: (select) => `in (${select})`,
  });
  return [condition, values];
}
