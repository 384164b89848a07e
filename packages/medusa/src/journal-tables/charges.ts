/** Statements of the plugin on the journal's tables, because they count, or join the plugin's own tables. */
import { type Sql, sqlList } from "@giftcard-pay/checkout/plugin";
import { uncapturedStates } from "@giftcard-pay/checkout/store";
import { readCount, readRows } from "../rows.js";

const RETRIED = sqlList(["reversing", "unknown"]);

export const OPEN_CHARGES = `select count(*) from giftcard_charge where state in (${sqlList(uncapturedStates)})`;

/** Counts the payments that are being released, without those that a person has exempted. */
export const OPEN_RELEASES = `select count(*) from giftcard_release release where (select count(*) from giftcard_job
  where kind = 'release_payment' and id = release.payment_id and exempted_at is not null) = 0`;

/** How many charges become due at once. More would keep the person's request waiting while the service is down. */
const DUE_AT_ONCE = 100;

/**
 * Makes the charges due whose next attempt the money flow has put off, the oldest first. An hour may pass after an outage
 * until the next attempt; a person who asks for it needn't wait.
 */
export async function makeRetriesDue(sql: Sql): Promise<void> {
  await sql(
    `update giftcard_charge set next_try_at = now() where reference in (select reference from giftcard_charge
       where state in (${RETRIED}) and next_try_at > now() order by created_at limit $1)`,
    [DUE_AT_ONCE],
  );
}

/** Counts the charges that the money flow retries by itself. */
export const countRetried = (sql: Sql): Promise<number> =>
  readCount(sql, `select count(*) from giftcard_charge where state in (${RETRIED})`);

export async function sumByState(sql: Sql): Promise<Record<string, { count: number; cents: number }>> {
  const rows = await readRows<{ state: string; count: number; cents: number }>(
    sql,
    `select state, count(*)::integer, coalesce(sum(coalesce(deducted_cents, amount_cents)), 0)::float8 as cents
     from giftcard_charge group by state order by state`,
    [],
  );
  return Object.fromEntries(rows.map(({ state, ...sums }) => [state, sums]));
}
