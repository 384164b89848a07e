import type { Sql } from "@giftcard-pay/checkout/plugin";
import { uncapturedStates } from "@giftcard-pay/checkout/store";
import { countCardsAndActions, OPEN_RELEASES, sumByState } from "../journal-tables/charges.js";
import { PENDING_REMAINDERS } from "../medusa-tables/unpaid-orders.js";
import { readRows } from "../rows.js";

/** The open work, by kind. As long as there is any, removing the tables would lose track of money. */
interface OpenWork {
  readonly pendingRemainders: number;
  readonly unpaidOrders: number;
  /** Payments without an order that aren't canceled or refunded yet. */
  readonly releases: number;
  readonly failingJobs: number;
}

/** The contents of the gift card tables, to check before the plugin is uninstalled. Amounts are in cents. */
export interface Drain {
  readonly open: OpenWork & {
    /** By state: the number of charges and their sum. */
    readonly charges: Readonly<Record<string, { readonly count: number; readonly cents: number }>>;
  };
  /** Finished work. Anything that happens to it later still needs the tables. */
  readonly stays: {
    /** Captured charges. Without the tables, a later refund can't reach the card. */
    readonly captured: { readonly count: number; readonly cents: number };
    readonly decisions: number;
    /** Cards on carts that aren't ordered. Nothing was taken from them. */
    readonly appliedCards: number;
  };
  readonly isEmpty: boolean;
}

const OPEN_WORK = `select (${PENDING_REMAINDERS})::integer as "pendingRemainders",
  (select count(*) from giftcard_unpaid_order where exempted_at is null and canceled_at is null)::integer as "unpaidOrders",
  (${OPEN_RELEASES})::integer as releases,
  (select count(*) from giftcard_job where exempted_at is null)::integer as "failingJobs"`;

const EXEMPTED = `select ((select count(*) from giftcard_unpaid_order where exempted_at is not null)
  + (select count(*) from giftcard_job where exempted_at is not null))::integer as count`;

export async function readDrain(sql: Sql): Promise<Drain> {
  const [work] = await readRows<OpenWork>(sql, OPEN_WORK, []);
  const [exempted] = await readRows<{ count: number }>(sql, EXEMPTED, []);
  if (!work || !exempted) throw new TypeError("A count has no rows.");
  const { appliedCards, actions } = await countCardsAndActions(sql);
  const byState = await sumByState(sql);
  const { captured = { count: 0, cents: 0 } } = byState;
  const isOpen = ([state]: [string, unknown]) => uncapturedStates.some((open) => open === state);
  const charges = Object.fromEntries(Object.entries(byState).filter(isOpen));
  const { pendingRemainders, unpaidOrders, releases, failingJobs } = work;
  const openJobs = pendingRemainders + unpaidOrders + releases + failingJobs;
  return {
    open: { charges, pendingRemainders, unpaidOrders, releases, failingJobs },
    stays: { captured, decisions: actions + exempted.count, appliedCards },
    isEmpty: Object.keys(charges).length === 0 && openJobs === 0,
  };
}
