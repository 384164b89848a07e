import type { Sql } from "@giftcard-pay/checkout/plugin";
import { uncapturedStates } from "@giftcard-pay/checkout/store";
import { OPEN_RELEASES, sumByState } from "../journal-tables/charges.js";
import { isKeptSql } from "../medusa-tables/scan.js";
import { PENDING_REMAINDERS } from "../medusa-tables/unpaid-orders.js";
import { listFailing } from "../recovery/failing-jobs.js";
import { readRows } from "../rows.js";

/** The contents of the gift card tables: the open work, and finished work. */
export type Status = Awaited<ReturnType<typeof readStatus>>;

/** The open work, by kind. As long as there is any, removing the tables would lose track of money. */
const OPEN_WORK = `select (${PENDING_REMAINDERS})::integer as "pendingRemainders",
  (select count(*) from giftcard_unpaid_order o where canceled_at is null and not ${isKeptSql("o.order_id")})::integer as "unpaidOrders",
  (${OPEN_RELEASES})::integer as releases,
  (select count(*) from giftcard_job where exempted_at is null)::integer as "failingJobs"`;

/** People's decisions, and cards on carts that aren't ordered: nothing was taken from them. */
const STAYS = `select ((select count(*) from giftcard_action)
    + (select count(*) from giftcard_job where exempted_at is not null))::integer as decisions,
  (select count(*) from giftcard_tender where state = 'applied')::integer as "appliedCards"`;

/** How many failing jobs are listed. The admin lists all. */
const JOBS_SHOWN = 200;

/** Reads the open work and the failing jobs. Changes nothing and calls nobody. */
export async function readStatus(sql: Sql) {
  const [work] = await readRows<Record<"pendingRemainders" | "unpaidOrders" | "releases" | "failingJobs", number>>(
    sql,
    OPEN_WORK,
    [],
  );
  const [stays] = await readRows<{ decisions: number; appliedCards: number }>(sql, STAYS, []);
  if (!work || !stays) throw new TypeError("A count has no rows.");
  const byState = await sumByState(sql);
  const { captured = { count: 0, cents: 0 } } = byState;
  const isOpen = ([state]: [string, unknown]) => uncapturedStates.some((open) => open === state);
  const charges = Object.fromEntries(Object.entries(byState).filter(isOpen));
  const openJobs = Object.values(work).reduce((sum, count) => sum + count, 0);
  return {
    open: { charges, ...work },
    jobs: (await listFailing(sql, { limit: JOBS_SHOWN, offset: 0 })).jobs,
    // Without the tables, a later refund can't reach the card of a captured charge.
    stays: { captured, ...stays },
    isEmpty: Object.keys(charges).length === 0 && openJobs === 0,
  };
}
