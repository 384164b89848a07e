import type { SeenCall } from "../../support/fault-proxy.js";
import { judge } from "./books.js";
import type { Cell, CellResult, ServiceFault } from "./cells.js";
import { LEASE_MS, type Purchase, type Shop } from "./shop.js";
import type { Verdict } from "./verdict.js";

/** The start of a cell, from which its calls and seconds are counted. */
export interface Start {
  readonly since: number;
  readonly atMs: number;
}

const SETTLE_MS = 90_000;
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Begins to count. */
export const startOf = <P extends Purchase>({ giftcards }: Shop<P>): Start => ({
  since: giftcards.proxy.seen.length,
  atMs: performance.now(),
});

/** Buys through one fault in a network, lets recovery run, and reads the books. */
export async function runNetworkCell<P extends Purchase>(shop: Shop<P>, cell: Cell): Promise<CellResult> {
  const start = startOf(shop);
  const { proxy } = shop.giftcards;
  const purchase = await shop.begin(cell.kind);
  proxy.withoutExtension(cell.place === "plain service");
  try {
    await shop.approach(cell.step, purchase);
    await fail(shop, cell, purchase);
    await shop.calm();
    proxy.withoutExtension(cell.place === "plain service");
    await shop.goOn(cell.step, purchase);
    return await conclude(shop, cell, purchase, start);
  } finally {
    await shop.calm();
    shop.database?.release();
    await proxy.release();
  }
}

/** Sets the fault and takes the step; what is held is delivered when everybody has given it up. */
async function fail<P extends Purchase>(shop: Shop<P>, cell: Cell, purchase: P): Promise<void> {
  const { step, fault, place } = cell;
  if (place === "none") return;
  await shop.provoke(cell, purchase);
  if (place === "database") return failInDatabase(shop, cell, purchase);
  const link = shop.link(cell, purchase);
  if (fault === "refuse" && link.isAlone) await link.proxy.listen(false);
  else {
    for (const operation of link.operations) {
      const named = fault === "refuse" ? "cut-before" : (fault as Exclude<ServiceFault, "refuse">);
      link.proxy.set(operation, named, undefined, link.skip);
    }
  }
  await shop.act(step, purchase);
  if (fault === "hold") {
    await shop.recover();
    await link.proxy.release();
  }
  await link.proxy.listen(true);
}

async function failInDatabase<P extends Purchase>(shop: Shop<P>, cell: Cell, purchase: P): Promise<void> {
  const { database } = shop;
  if (!database) throw new Error("there is no network to the database");
  database.set({ ...shop.statement(cell, purchase), fault: cell.fault as never });
  const acting = shop.act(cell.step, purchase);
  if (cell.fault === "hold") {
    await Promise.race([until(() => database.hits > 0, SETTLE_MS), acting]);
    if (database.hits > 0) {
      // Recovery comes while the holder is frozen past its lease.
      await pause(LEASE_MS + 200);
      await Promise.race([shop.recover(), pause(2000)]);
    }
    database.release();
  }
  await acting;
  if (database.hits === 0) throw new Error("the fault was never met");
}

/** Lets recovery run until the books are right, or its time is up. */
export async function conclude<P extends Purchase>(
  shop: Shop<P>,
  cell: Cell,
  purchase: P,
  { since, atMs }: Start,
): Promise<CellResult> {
  let verdict: Verdict;
  const giveUpAt = performance.now() + SETTLE_MS;
  for (;;) {
    await shop.age(purchase);
    await shop.recover();
    if (cell.place === "plain service") await shop.askPersons(purchase);
    verdict = await judge(shop, purchase).catch((error: Error) => ({
      outcome: "open" as const,
      wrong: [error.message],
    }));
    if (verdict.wrong.length === 0 || performance.now() > giveUpAt) break;
    await pause(300);
  }
  const seen = shop.giftcards.proxy.seen.slice(since);
  const wrong = [...verdict.wrong, ...judgeCalls(seen, cell, purchase)];
  if (verdict.outcome !== "open" && !cell.ends.includes(verdict.outcome)) {
    wrong.push(`it ends ${verdict.outcome}, not ${cell.ends.join(" or ")}`);
  }
  return {
    cell,
    verdict: { outcome: verdict.outcome, wrong },
    calls: count(seen.map((call) => call.operation)),
    seconds: (performance.now() - atMs) / 1000,
  };
}

/** Nothing ever sends a devalue twice; and a purchase without a fault costs a quote for each card, and a devalue for each charge. */
function judgeCalls(seen: readonly SeenCall[], cell: Cell, { cards }: Purchase): string[] {
  const devalues = seen.filter((call) => call.operation === "devalue");
  const byKey = count(devalues.map((call) => call.idempotencyKey ?? "none"));
  const wrong = Object.values(byKey).some((times) => times > 1) ? ["a devalue was sent twice"] : [];
  if (byKey.none) wrong.push("a devalue was sent without its key");
  if (cell.place !== "none") return wrong;
  const calls = count(seen.map((call) => call.operation));
  const charges = cards.flatMap(({ chargesCents }) => chargesCents).length;
  const isLeast = Object.keys(calls).length === 2 && calls.balance === cards.length && calls.devalue === charges;
  return isLeast ? wrong : [...wrong, `the purchase took ${JSON.stringify(calls)}`];
}

export function count(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Waits until it holds. @throws when the time is up */
export async function until(holds: () => boolean | Promise<boolean>, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`it didn't come to it in ${timeoutMs / 1000} s`);
    await pause(20);
  }
}
