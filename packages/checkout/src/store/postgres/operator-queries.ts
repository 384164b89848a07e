import type { Charge, ChargeFilter, ChargeState } from "../charge.js";
import { type Binder, conditionOf, sortings } from "../charge-filter.js";
import { settledStates } from "../charge-states.js";
import type { SealedValue } from "../journal.js";
import { type OperatorQueries, sealIdOf } from "../operator-queries.js";
import { sqlList, toAction, toCharge } from "../rows.js";
import { movedCharges, moveStatement } from "./move.js";
import { type Sql, sqlInterval } from "./sql.js";

/** Selects all sealed values that are still needed. The token of a settled charge is not. */
const LIVING_SEALS = `
  select 'giftcard_tender' as "table", 'sealed_card' as "column", id, sealed_card as sealed from giftcard_tender
    where sealed_card is not null and expires_at > now()
  union all
  select 'giftcard_charge', 'sealed_card', reference, sealed_card from giftcard_charge
    where sealed_card is not null and created_at > now() - interval '24 hours'
  union all
  select 'giftcard_charge', 'sealed_token', reference, sealed_token from giftcard_charge
    where sealed_token is not null and state not in (${sqlList(settledStates)})
  union all
  select 'giftcard_secret', 'sealed', name, sealed from giftcard_secret`;

/** Reads the key from the header of a JWE, its first part in base64url. */
const HEADER = "translate(split_part(sealed, '.', 1), '-_', '+/')";
const KEY_ID = `convert_from(decode(rpad(${HEADER}, (length(${HEADER}) + 3) / 4 * 4, '='), 'base64'), 'utf8')::json ->> 'kid'`;

const binderOf = (params: unknown[]): Binder => ({
  one: (value) => `$${params.push(value)}`,
  anyOf: (texts) => `= any($${params.push([...texts])}::text[])`,
  among: (select) => `= any(array(${select}))`,
});

/** The limits of a page: its first and last reference, and its number of charges. */
interface PageBounds {
  readonly after: string;
  readonly last?: string;
  readonly limit: number;
}

async function pageBetween(sql: Sql, filter: ChargeFilter, { after, last, limit }: PageBounds): Promise<Charge[]> {
  const params: unknown[] = [after, limit];
  const condition = conditionOf(filter, binderOf(params));
  const until = last === undefined ? "" : `and reference <= $${params.push(last)}`;
  const rows = await sql(
    `select * from giftcard_charge where reference > $1 ${until} and ${condition} order by reference limit $2`,
    params,
  );
  return rows.map(toCharge);
}

/** The number of rows that are scanned at once. */
const SCANNED = 2000;

/**
 * Reads a page of charges without an index, by scanning the table in ranges of its key. PostgreSQL can't estimate how many
 * charges moved within a period, and would read and sort all of them for each page.
 */
async function scanPage(sql: Sql, filter: ChargeFilter, after: string, limit: number): Promise<Charge[]> {
  const page: Charge[] = [];
  for (let begin = after; ; ) {
    const [stretch] = await sql(
      `select max(reference) as last, count(*)::integer as count
       from (select reference from giftcard_charge where reference > $1 order by reference limit ${SCANNED}) stretch`,
      [begin],
    );
    const last = String(stretch?.last ?? begin);
    page.push(...(await pageBetween(sql, filter, { after: begin, last, limit: limit - page.length })));
    if (page.length === limit || Number(stretch?.count) < SCANNED) return page;
    begin = last;
  }
}

/** Makes the part of the journal on PostgreSQL for operators and key rotation. */
export function createSqlOperatorQueries(sql: Sql): OperatorQueries {
  return {
    async list({ limit = 50, offset = 0, sort, ...filter }) {
      const params: unknown[] = [];
      const p = (value: unknown) => `$${params.push(value)}`;
      const matching = `from giftcard_charge where ${conditionOf(filter, binderOf(params))}`;
      const [counted] = await sql(`select count(*)::integer as count ${matching}`, [...params]);
      const page = `order by ${sortings[sort ?? "attention"]} limit ${p(limit)} offset ${p(offset)}`;
      const rows = await sql(`select * ${matching} ${page}`, params);
      return { charges: rows.map(toCharge), count: Number(counted?.count) };
    },
    readPage: (filter, after, limit) =>
      filter.moved && !filter.orderIds && !filter.externalIds
        ? scanPage(sql, filter, after, limit)
        : pageBetween(sql, filter, { after, limit }),
    async chargesOfCard(reference) {
      const rows = await sql(
        `select charge.* from giftcard_charge charge join giftcard_tender t on t.id = charge.tender_id
         where t.fingerprint = (
           select fingerprint from giftcard_tender join giftcard_charge on giftcard_tender.id = tender_id
           where reference = $1
         ) order by charge.created_at desc, charge.position desc, charge.reference`,
        [reference],
      );
      return rows.map(toCharge);
    },
    async countByState() {
      const rows = await sql("select state, count(*)::integer as count from giftcard_charge group by state", []);
      return Object.fromEntries(rows.map((row) => [row.state as ChargeState, Number(row.count)]));
    },
    async act(reference, move, { action, actor }) {
      const from = move.from[0];
      if (from === undefined || move.from.length > 1) throw new TypeError("An action leaves exactly one state.");
      const [text, params] = moveStatement([reference], move, (p) => [
        `action as (
          insert into giftcard_action (reference, action, actor, from_state, to_state)
          select reference, ${p(action)}, ${p(actor)}, ${p(from)}, state from charge
        )`,
      ]);
      const isRecorded = (p: (value: unknown) => string) =>
        `exists (select from giftcard_action made where made.reference = giftcard_charge.reference
           and made.actor = ${p(actor)} and made.action = ${p(action)} and made.to_state = giftcard_charge.state)`;
      const [row] = await sql(text, params, movedCharges([reference], move, isRecorded));
      return row ? toCharge(row) : null;
    },
    async actions(reference) {
      const rows = await sql("select * from giftcard_action where reference = $1 order by id", [reference]);
      return rows.map(toAction);
    },
    async takeGuess(limits, windowMs) {
      if (limits.length === 0) return 0;
      // now() is when this transaction began, which may be before another call's window. So compare with the clock.
      const rows = await sql(
        `insert into giftcard_guess as old (key, count, resets_at)
         select key, 1, now() + ${sqlInterval("$2")} from unnest($1::text[]) key order by key
         on conflict (key) do update set
           count = case when old.resets_at <= now() then 1 else old.count + 1 end,
           resets_at = case when old.resets_at <= now() then excluded.resets_at else old.resets_at end
         returning key, count, extract(epoch from resets_at - clock_timestamp()) as seconds`,
        [limits.map((limit) => limit.key), windowMs],
      );
      const maxOf = new Map(limits.map((limit) => [limit.key, limit.max]));
      const exceeded = rows.filter((row) => Number(row.count) > (maxOf.get(String(row.key)) ?? 0));
      return Math.max(0, ...exceeded.map((row) => Math.max(1, Math.ceil(Number(row.seconds)))));
    },
    async returnGuess(limits) {
      if (limits.length === 0) return;
      await sql(
        `update giftcard_guess set count = greatest(count - 1, 0) where key in (
           select key from giftcard_guess where key = any($1::text[]) and resets_at > now() order by key for update
         )`,
        [limits.map((limit) => limit.key)],
        // If it ran twice, it would uncount another guess.
        "ignore",
      );
    },
    async keepSecret(name, sealed) {
      const read = "select sealed from giftcard_secret where name = $1";
      const [existing] = await sql(read, [name]);
      if (existing) return String(existing.sealed);
      await sql("insert into giftcard_secret (name, sealed) values ($1, $2) on conflict do nothing", [name, sealed]);
      const [stored] = await sql(read, [name]);
      return String(stored?.sealed);
    },
    async sealCounts() {
      const rows = await sql(
        `select ${KEY_ID} as key_id, count(*)::integer as count from (${LIVING_SEALS}) living group by 1`,
        [],
      );
      return Object.fromEntries(rows.map((row) => [String(row.key_id), Number(row.count)]));
    },
    async sealedUnderOther(keyId, limit) {
      const rows = await sql(`select * from (${LIVING_SEALS}) living where ${KEY_ID} <> $1 limit $2`, [keyId, limit]);
      return rows as unknown as SealedValue[];
    },
    async replaceSealed({ table, column, id, sealed: before }, sealed) {
      const key = sealIdOf[table];
      const rows = await sql(
        `update ${table} set ${column} = $3, updated_at = now() where ${key} = $1 and ${column} = $2 returning ${key}`,
        [id, before, sealed],
        [`select ${key} from ${table} where ${key} = $1 and ${column} = $2`, [id, sealed]],
      );
      return rows.length === 1;
    },
  };
}
