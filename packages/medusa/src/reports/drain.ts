import type { Sql } from "@giftcard-pay/checkout/plugin";
import { openStates } from "@giftcard-pay/checkout/store";
import { countCardsAndActions, OPEN_CHARGES, sumByState } from "../journal-tables/charges.js";
import { OPEN_RELEASES } from "../journal-tables/releases.js";
import { countPendingRemainders } from "../medusa-tables/unpaid-orders.js";

/** What the gift card tables hold, for taking the plugin out. Amounts in cents. */
export interface Drain {
  /** What must be over before the tables go: with it, money would be lost track of. */
  readonly open: {
    /** By state: how many charges, and what they are about. */
    readonly charges: Readonly<Record<string, { readonly count: number; readonly cents: number }>>;
    /** Remainders that another method has promised to pay. */
    readonly pendingRemainders: number;
    /** Orders that nobody paid, and that aren't canceled yet. */
    readonly unpaidOrders: number;
    /** Payments that no order has, and that aren't canceled or refunded yet. */
    readonly releases: number;
    /** What recovery fails to do. */
    readonly failingJobs: number;
  };
  /** What is over, and can't be done any more without the tables. */
  readonly stays: {
    /** Captured charges: a later refund can't reach the card. */
    readonly captured: { readonly count: number; readonly cents: number };
    /** What people decided, and with whom that stands. */
    readonly decisions: number;
    /** Cards on carts that aren't ordered: nothing was taken from them. */
    readonly appliedCards: number;
  };
  /** Whether nothing is open. */
  readonly isEmpty: boolean;
}

/** Reads what is open and what stays. Changes nothing. */
export async function readDrain(sql: Sql): Promise<Drain> {
  const [row] = await sql(
    `select (${OPEN_CHARGES}) as open_charges, (select count(*) from giftcard_unpaid_order where kept_at is null and canceled_at is null) as unpaid_orders,
       (${OPEN_RELEASES}) as releases,
       (select count(*) from giftcard_job where kept_at is null) as failing_jobs,
       (select count(*) from giftcard_unpaid_order where kept_at is not null)
         + (select count(*) from giftcard_job where kept_at is not null) as kept`,
    [],
  );
  const figure = (name: string) => Number(row?.[name]);
  const { appliedCards, actions } = await countCardsAndActions(sql);
  const byState = await sumByState(sql);
  const { captured = { count: 0, cents: 0 } } = byState;
  const isOpen = ([state]: [string, unknown]) => openStates.some((open) => open === state);
  const open = Object.fromEntries(Object.entries(byState).filter(isOpen));
  const pendingRemainders = await countPendingRemainders(sql);
  const [unpaidOrders, releases, failingJobs] = ["unpaid_orders", "releases", "failing_jobs"].map(figure) as [
    number,
    number,
    number,
  ];
  return {
    open: { charges: open, pendingRemainders, unpaidOrders, releases, failingJobs },
    stays: { captured, decisions: actions + figure("kept"), appliedCards },
    isEmpty: figure("open_charges") + pendingRemainders + unpaidOrders + releases + failingJobs === 0,
  };
}
