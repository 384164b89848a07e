import type { Charge, ChargeFilter, ChargeState } from "../charge.js";
import { settledStates } from "../charge-states.js";
import type { Journal, SealedValue } from "../journal.js";
import { conditionOf, paymentsOf, sortings } from "./charge-filter.js";
import { type Database, newParams } from "./database.js";
import { movedCharges, moveWrite } from "./move.js";
import { sqlList, toAction, toCharge } from "./rows.js";

/** The key column of a sealed value's row. */
const sealIdOf = { giftcard_tender: "id", giftcard_charge: "reference", giftcard_secret: "name" } as const;

export const DAY_MS = 24 * 60 * 60_000;

/** Selects all sealed values that are still needed. The token of a settled charge is not. */
const livingSeals = ({ ms }: Database) => `
  select 'giftcard_tender' as "table", 'sealed_card' as "column", id, sealed_card as sealed from giftcard_tender
    where sealed_card is not null and expires_at > now()
  union all
  select 'giftcard_charge', 'sealed_card', reference, sealed_card from giftcard_charge
    where sealed_card is not null and created_at > now() - ${ms(DAY_MS)}
  union all
  select 'giftcard_charge', 'sealed_token', reference, sealed_token from giftcard_charge
    where sealed_token is not null and state not in (${sqlList(settledStates)})
  union all
  select 'giftcard_secret', 'sealed', name, sealed from giftcard_secret`;

async function pageBetween(
  database: Database,
  filter: ChargeFilter,
  { after, last, limit }: { after: string; last?: string; limit: number },
): Promise<Charge[]> {
  const { params, p } = newParams(after, limit);
  const condition = conditionOf(filter, database, p);
  const until = last === undefined ? "" : `and reference <= ${p(last)}`;
  const rows = await database.query(
    `select * from giftcard_charge where reference > $1 ${until} and ${condition} order by reference limit $2`,
    params,
  );
  return rows.map(toCharge);
}

/** The number of rows that are scanned at once. */
const SCANNED = 2000;

/**
 * Reads a page of charges without an index, by scanning the table in ranges of its key. The database can't estimate how many
 * charges moved within a period, and would read and sort all of them for each page.
 */
async function scanPage(database: Database, filter: ChargeFilter, after: string, limit: number): Promise<Charge[]> {
  const page: Charge[] = [];
  for (let begin = after; ; ) {
    const [stretch] = await database.query(
      `select max(reference) as last, count(*) as count
       from (select reference from giftcard_charge where reference > $1 order by reference limit ${SCANNED}) stretch`,
      [begin],
    );
    const last = String(stretch?.last ?? begin);
    page.push(...(await pageBetween(database, filter, { after: begin, last, limit: limit - page.length })));
    if (page.length === limit || Number(stretch?.count) < SCANNED) return page;
    begin = last;
  }
}

/** Makes the part of the journal for operators and key rotation. */
export function createOperatorQueries(database: Database) {
  const { query, ms, anyOf, keyIdOf, sequence } = database;
  return {
    async list({ limit = 50, offset = 0, sort, byPayment = false, ...filter }) {
      const { params, p } = newParams();
      const matching = (byPayment ? paymentsOf : conditionOf)(filter, database, p);
      const [counted] = await query(`select count(*) as count from giftcard_charge where ${matching}`, [...params]);
      const order = `order by ${sortings[sort ?? "attention"]}`;
      const page = `from giftcard_charge where ${matching} ${order} limit ${p(limit)} offset ${p(offset)}`;
      const ids = `select external_id from (select external_id ${page}) page`;
      const all = `select * from giftcard_charge where external_id ${database.among(ids)} ${order}`;
      const rows = await query(byPayment ? all : `select * ${page}`, params);
      return { charges: rows.map(toCharge), count: Number(counted?.count) };
    },
    readPage: (filter, after, limit) =>
      filter.moved && !filter.orderIds && !filter.externalIds
        ? scanPage(database, filter, after, limit)
        : pageBetween(database, filter, { after, limit }),
    async chargesOfCard(reference) {
      const rows = await query(
        `select charge.* from giftcard_charge charge join giftcard_tender t on t.id = charge.tender_id
         where t.fingerprint = (
           select fingerprint from giftcard_tender join giftcard_charge on giftcard_tender.id = tender_id
           where reference = $1
         ) order by charge.${sequence} desc, charge.position desc, charge.reference`,
        [reference],
      );
      return rows.map(toCharge);
    },
    async countByState() {
      const rows = await query("select state, count(*) as count from giftcard_charge group by state", []);
      return Object.fromEntries(rows.map((row) => [row.state as ChargeState, Number(row.count)]));
    },
    async act(reference, move, { action, actor }) {
      const from = move.from[0];
      if (from === undefined || move.from.length > 1) throw new TypeError("An action leaves exactly one state.");
      const write = moveWrite(database, [reference], move, (p) => [
        {
          name: "action",
          table: "giftcard_action",
          text: `insert into giftcard_action (reference, action, actor, from_state, to_state, created_at)
            select reference, ${p(action)}, ${p(actor)}, ${p(from)}, state, now() from charge`,
        },
      ]);
      const isRecorded = (p: (value: unknown) => string) =>
        `exists (select 1 from giftcard_action made where made.reference = giftcard_charge.reference
           and made.actor = ${p(actor)} and made.action = ${p(action)} and made.to_state = giftcard_charge.state)`;
      const [row] = await database.write(...write, movedCharges(database, [reference], move, isRecorded));
      return row ? toCharge(row) : null;
    },
    async actions(reference) {
      const rows = await query("select * from giftcard_action where reference = $1 order by id", [reference]);
      return rows.map(toAction);
    },
    async takeGuess(limits, windowMs) {
      if (limits.length === 0) return 0;
      const { params, p } = newParams(windowMs);
      // In order, so that concurrent calls don't wait for each other's rows.
      const keys = limits.map(({ key }) => key).sort();
      const counts = keys.map((key) => `(${p(key)}, 1, now() + ${ms("$1")})`);
      const rows = await query(
        `insert into giftcard_guess as old (key, count, resets_at) values ${counts.join(", ")}
         on conflict (key) do update set
           count = case when old.resets_at <= now() then 1 else old.count + 1 end,
           resets_at = case when old.resets_at <= now() then excluded.resets_at else old.resets_at end
         returning key, count, ${database.secondsUntil("resets_at")} as seconds`,
        params,
      );
      const maxOf = new Map(limits.map((limit) => [limit.key, limit.max]));
      const exceeded = rows.filter((row) => Number(row.count) > (maxOf.get(String(row.key)) ?? 0));
      return Math.max(0, ...exceeded.map((row) => Math.max(1, Math.ceil(Number(row.seconds)))));
    },
    async returnGuess(limits) {
      if (limits.length === 0) return;
      await query(
        `update giftcard_guess set count = count - 1 where key in (
           select key from giftcard_guess where key ${anyOf("$1")} and count > 0 and resets_at > now()
           order by key ${database.forUpdate}
         )`,
        [limits.map((limit) => limit.key)],
        // If it ran twice, it would uncount another guess.
        "ignore",
      );
    },
    async keepSecret(name, sealed) {
      const read = "select sealed from giftcard_secret where name = $1";
      const [existing] = await query(read, [name]);
      if (existing) return String(existing.sealed);
      await query(
        "insert into giftcard_secret (name, sealed, created_at, updated_at) values ($1, $2, now(), now()) on conflict do nothing",
        [name, sealed],
      );
      const [stored] = await query(read, [name]);
      return String(stored?.sealed);
    },
    async sealCounts() {
      const rows = await query(
        `select ${keyIdOf("sealed")} as key_id, count(*) as count from (${livingSeals(database)}) living group by 1`,
        [],
      );
      return Object.fromEntries(rows.map((row) => [String(row.key_id), Number(row.count)]));
    },
    async sealedUnderOther(keyId, limit) {
      const rows = await query(
        `select * from (${livingSeals(database)}) living where ${keyIdOf("sealed")} <> $1 limit $2`,
        [keyId, limit],
      );
      return rows as unknown as SealedValue[];
    },
    async replaceSealed({ table, column, id, sealed: before }, sealed) {
      const key = sealIdOf[table];
      const rows = await query(
        `update ${table} set ${column} = $3, updated_at = now() where ${key} = $1 and ${column} = $2 returning ${key}`,
        [id, before, sealed],
        [`select ${key} from ${table} where ${key} = $1 and ${column} = $2`, [id, sealed]],
      );
      return rows.length === 1;
    },
  } satisfies Partial<Journal>;
}
