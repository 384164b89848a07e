/** What the plugin reads of the journal's tables in statements of its own, because they count, or join tables of its own. */
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { openStates } from "@giftcard-pay/checkout/store";
import { stateList } from "../medusa-tables/state-list.js";

/** A count of the charges that aren't over. */
export const OPEN_CHARGES = `select count(*) from giftcard_charge where state in (${stateList(openStates)})`;

/** The charges that the money flow fails to settle, as rows of failing jobs. */
export const FAILING_CHARGES = `
  select case state when 'reversing' then 'reversal' else 'outcome' end as kind, reference as id, order_id, tries,
    coalesce(last_error, reason, 'unknown') as last_error, created_at as first_failed_at, updated_at as last_failed_at
  from giftcard_charge where state in (${stateList(["reversing", "unknown"])}) and tries > 0`;

/** By state: how many charges, and what they are about, in cents. */
export async function sumByState(sql: Sql): Promise<Record<string, { count: number; cents: number }>> {
  const rows = await sql(
    `select state, count(*), coalesce(sum(coalesce(deducted_cents, amount_cents)), 0) as cents
     from giftcard_charge group by state order by state`,
    [],
  );
  return Object.fromEntries(
    rows.map(({ state, count, cents }) => [String(state), { count: Number(count), cents: Number(cents) }]),
  );
}

/** How many cards are on carts, and how many decisions people have made about charges. */
export async function countCardsAndActions(sql: Sql): Promise<{ appliedCards: number; actions: number }> {
  const [row] = await sql(
    `select (select count(*) from giftcard_tender where state = 'applied') as cards,
       (select count(*) from giftcard_action) as actions`,
    [],
  );
  return { appliedCards: Number(row?.cards), actions: Number(row?.actions) };
}

/** The services that charges were made with; two where there are more. */
export async function readServices(sql: Sql): Promise<{ environment: string; companyId: string }[]> {
  const rows = await sql("select distinct environment, company_id from giftcard_charge limit 2", []);
  return rows.map((row) => ({ environment: String(row.environment), companyId: String(row.company_id) }));
}
