import type pg from "pg";
import type { Cell, CellResult } from "./cells.js";
import { conclude, startOf, until } from "./run-cell.js";
import type { Purchase, Shop } from "./shop.js";

export const REACH_MS = 60_000;

/** Kills a process while these purchases are at the cell's step, and restarts it. */
export type Death<P extends Purchase> = (
  shop: Shop<P>,
  cell: Cell,
  purchases: readonly P[],
  act: () => Promise<unknown>,
) => Promise<void>;

/** Brings a purchase of each kind to the same point, kills a process there, restarts it, and reads the books. */
export async function runKill<P extends Purchase>(
  shop: Shop<P>,
  cells: readonly Cell[],
  die: Death<P>,
): Promise<CellResult[]> {
  const start = startOf(shop);
  const [first] = cells as [Cell];
  const purchases: P[] = [];
  for (const cell of cells) {
    const purchase = await shop.begin(cell.kind);
    await shop.approach(cell.step, purchase);
    await shop.provoke(cell, purchase);
    purchases.push(purchase);
  }
  // One recovery run resolves the purchases in sequence, so the process is killed at the first.
  const acting = first.step === "recovery" ? purchases.slice(0, 1) : purchases;
  const act = () => Promise.all(acting.map((purchase) => shop.act(first.step, purchase)));
  await die(shop, first, acting, act);
  await shop.calm();
  const results: CellResult[] = [];
  for (const [index, purchase] of purchases.entries()) {
    const cell = cells[index] as Cell;
    await shop.goOn(cell.step, purchase);
    results.push(await conclude(shop, cell, purchase, start));
  }
  return results;
}

/** Kills the shop when all purchases have reached the point. */
export async function killShop<P extends Purchase>(
  shop: Shop<P>,
  cell: Cell,
  purchases: readonly P[],
  act: () => Promise<unknown>,
): Promise<void> {
  const trap = shop.trap(cell, purchases);
  const acting = act();
  await until(trap.isReached, REACH_MS);
  await shop.kill();
  await acting;
  // Calls in flight now arrive, but the process that sent them is dead.
  await trap.release();
  await shop.restore();
}

/** Kills the service while its transaction waits for a lock, or after the commit and before the response. */
export async function killService<P extends Purchase>(
  shop: Shop<P>,
  { step, point }: Cell,
  _: readonly P[],
  act: () => Promise<unknown>,
): Promise<void> {
  const { giftcards } = shop;
  const { proxy, books } = giftcards;
  const operation = step === "quote" ? "balance" : step === "devalue" ? "devalue" : "canceldevalue";
  if (point === "after it committed") {
    const since = proxy.seen.length;
    proxy.set(operation, "cut-after");
    const acting = act();
    await until(() => proxy.seen.slice(since).some((call) => call.operation === operation), REACH_MS);
    await giftcards.kill();
    await acting;
    return shop.restore();
  }
  const lock = await books.connect();
  try {
    await lock.query("begin");
    await lock.query(`lock table ${step === "quote" ? "cards" : "ledger"} in access exclusive mode`);
    const acting = act();
    await until(async () => (await waiting(lock)) >= 1, REACH_MS);
    await giftcards.kill();
    // PostgreSQL continues with the statements that the dead process had sent.
    await lock.query("rollback");
    await acting;
  } finally {
    await lock.query("rollback").catch(() => {});
    lock.release();
  }
  return shop.restore();
}

async function waiting(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows[0].count;
}
