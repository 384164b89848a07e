import type pg from "pg";
import { type Cell, deadlyStatements } from "./cells.js";
import { actions, begin, type Purchase } from "./purchase.js";
import { act, approach, type CellResult, conclude, goOn, until } from "./run-cell.js";
import type { World } from "./world.js";

const REACH_MS = 10_000;

/** Brings a purchase of each kind to the same point, kills the process there, starts it again, and reads the books. */
export async function runKill(world: World, cells: readonly Cell[]): Promise<CellResult[]> {
  const startedAt = performance.now();
  const since = world.proxy.seen.length;
  const { place, step, point } = cells[0] as Cell;
  const purchases: Purchase[] = [];
  for (const { kind } of cells) {
    const purchase = await begin(world, kind);
    await approach(world, step, purchase);
    if (point.startsWith("bank ")) {
      await actions.session(world, purchase, point === "bank asked" ? "hangs" : "authorizes and hangs");
    }
    if (place === "kill service" && step === "remainder") await actions.session(world, purchase, "error");
    purchases.push(purchase);
  }
  // Recovery ends one after the other, in one run: it is stopped at the first.
  const times = step === "recovery" ? 1 : purchases.length;
  const go = () =>
    step === "recovery"
      ? [act(world, step, purchases[0] as Purchase)]
      : purchases.map((purchase) => act(world, step, purchase));
  if (place === "kill Medusa") await killMedusa(world, cells[0] as Cell, purchases, times, go);
  else await killService(world, cells[0] as Cell, go);
  world.proxy.clear();
  world.database.clear();
  const results: CellResult[] = [];
  for (const [index, purchase] of purchases.entries()) {
    const cell = cells[index] as Cell;
    await goOn(world, step, purchase);
    results.push(await conclude(world, cell, purchase, since, startedAt));
  }
  return results;
}

type Go = () => Promise<unknown>[];

async function killMedusa(
  world: World,
  { point }: Cell,
  purchases: readonly Purchase[],
  times: number,
  go: Go,
): Promise<void> {
  const { proxy, database, bank } = world;
  const since = proxy.seen.length;
  const pattern = deadlyStatements[point];
  const operation = point.endsWith("on its way") ? (point.split(" ")[0] as string) : "";
  if (pattern) database.set({ pattern, fault: "hold", times });
  if (operation) proxy.set(operation, "hold");
  const acting = go();
  const isThere = () => {
    if (pattern) return database.hits >= times;
    if (operation)
      return proxy.seen.slice(since).filter((call) => call.operation === operation).length >= times;
    return purchases.every(({ cartId }) =>
      bank.deeds(cartId).some(({ deed }) => deed === (point === "bank asked" ? "ask" : "authorize")),
    );
  };
  await until(isThere, REACH_MS);
  await world.killMedusa();
  await Promise.all(acting);
  // What was on its way arrives; nobody is there any more to hear of it.
  await proxy.release();
  database.release();
  await world.restore();
}

/** The service dies in the midst of its transaction, which waits for a lock, or with its answer in hand. */
async function killService(world: World, { step, point }: Cell, go: Go): Promise<void> {
  const { proxy, serviceBooks } = world;
  const operation = step === "quote" ? "balance" : step === "devalue" ? "devalue" : "canceldevalue";
  if (point === "after it committed") {
    const since = proxy.seen.length;
    proxy.set(operation, "cut-after");
    const acting = go();
    await until(() => proxy.seen.slice(since).some((call) => call.operation === operation), REACH_MS);
    await world.killService();
    await Promise.all(acting);
    return world.restore();
  }
  const lock = await serviceBooks.connect();
  try {
    await lock.query("begin");
    await lock.query(`lock table ${step === "quote" ? "cards" : "ledger"} in access exclusive mode`);
    const acting = go();
    await until(async () => (await waiting(lock)) >= 1, REACH_MS);
    await world.killService();
    // PostgreSQL goes on with what the dead process had sent it.
    await lock.query("rollback");
    await Promise.all(acting);
  } finally {
    await lock.query("rollback").catch(() => {});
    lock.release();
  }
  return world.restore();
}

async function waiting(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows[0].count;
}
