import { startPostgres } from "../../../support/postgres.js";
import type { Verdict } from "../verdict.js";
import type { VendureCell } from "./cells.js";
import { judge } from "./judge.js";
import { begin, type Purchase, pause, pay } from "./purchase.js";
import { openWorld, type World } from "./world.js";

export { vendureCells } from "./cells.js";

/** How a cell ended. */
export interface VendureResult {
  readonly cell: Pick<VendureCell, "name" | "shop" | "place" | "kind">;
  readonly verdict: Verdict;
  readonly seconds: number;
}

const SETTLE_MS = 90_000;

/** Makes outstanding work due now, and expires every lease so that any process can take it over. */
const age = ({ books }: World, { code }: Purchase) =>
  Promise.all([
    books.query(
      `update giftcard.giftcard_purchase set next_try_at = now(), created_at = created_at - interval '1 hour',
         lease_until = case when lease_until is null then null else now() end where order_id = $1`,
      [code],
    ),
    books.query(
      `update giftcard.giftcard_charge set next_try_at = now(),
         lease_until = case when lease_until is null then null else now() end where cart_id = $1`,
      [code],
    ),
  ]);

/** Waits until the shop's own sweeps have made the books right twice in a row, or until the time is up. */
async function settle(world: World, purchase: Purchase): Promise<Verdict> {
  const giveUpAt = performance.now() + SETTLE_MS;
  for (let before = ""; ; ) {
    await age(world, purchase);
    await pause(1000);
    const verdict = await judge(world, purchase).catch(
      (error: Error): Verdict => ({
        ...{ outcome: "open", wrong: [error.message] },
      }),
    );
    if (verdict.wrong.length === 0 && verdict.outcome === before) return verdict;
    if (performance.now() > giveUpAt) return verdict;
    before = verdict.wrong.length === 0 ? verdict.outcome : "";
  }
}

/** Reports a devalue that was sent twice. */
function wrongCalls({ giftcards }: World, since: number): string[] {
  const sent = giftcards.proxy.seen.slice(since).filter(({ operation }) => operation === "devalue");
  const keys = sent.map(({ idempotencyKey }) => idempotencyKey);
  return new Set(keys).size < keys.length ? ["a devalue was sent twice"] : [];
}

async function runCell(world: World, cell: VendureCell): Promise<Verdict> {
  const since = world.giftcards.proxy.seen.length;
  const purchase = await begin(world, cell.kind);
  await cell.act(world, purchase);
  await world.calm();
  const { outcome, wrong } = await settle(world, purchase);
  const all = [...wrong];
  if (wrong.length === 0 && !cell.ends.includes(outcome)) all.push(`it ends ${outcome}, not ${cell.ends.join(" or ")}`);
  // A shopper whose payment failed tries again.
  if (all.length === 0 && outcome === "whole" && (await purchase.beside.look(purchase.code))?.active) {
    await pay(purchase);
    const again = await settle(world, purchase);
    all.push(...again.wrong);
    if (again.outcome !== "paid") all.push(`paid again, it ends ${again.outcome}`);
  }
  all.push(...wrongCalls(world, since));
  return { outcome: all.length > 0 ? "open" : outcome, wrong: all };
}

/** Runs cells, each with a purchase of its own. */
export async function runVendure(
  cells: readonly VendureCell[],
  { signal, onResult }: { signal: AbortSignal; onResult: (result: VendureResult, done: number) => void },
): Promise<VendureResult[]> {
  const postgres = await startPostgres();
  const results: VendureResult[] = [];
  let world: World | undefined;
  try {
    world = await openWorld(postgres.url);
    for (const cell of cells) {
      if (signal.aborted) break;
      const startedAt = performance.now();
      const verdict = await runCell(world, cell).catch(
        (error: Error): Verdict => ({
          ...{ outcome: "open", wrong: [error.message] },
        }),
      );
      await world.calm();
      await world.restore();
      const { name, shop, place, kind } = cell;
      const seconds = (performance.now() - startedAt) / 1000;
      results.push({ cell: { name, shop, place, kind }, verdict, seconds });
      onResult(results.at(-1) as VendureResult, results.length);
    }
  } finally {
    await world?.close();
    await postgres.stop();
  }
  return results;
}
