import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../support/postgres.js";
import { type Experience, gather, rush } from "./buyers.js";
import { judge, type Verdict } from "./judge.js";
import { type Lock, type OnSaleShop, openShop, SHOW } from "./shop.js";

/** A page of the shop is asked for so often, before and during the rush. */
const PAGE_EVERY_MS = 200;
const PAGES_BEFORE = 40;
const FREEZE_MS = 8000;

export interface OnSaleOptions {
  readonly lock: Lock;
  readonly processes: number;
  readonly hasWorker: boolean;
  readonly seats: number;
  readonly buyers: number;
  /** How long the bank takes to authorize a payment. */
  readonly bankMs: number;
  /** Kills and freezes processes meanwhile. */
  readonly isHostile: boolean;
  /** The same shop without this plugin. */
  readonly isPlain: boolean;
  /** How long a buyer asks again. Nobody may wait for a single answer for longer than half of it. */
  readonly patienceMs: number;
  /** A PostgreSQL server to use. Default: a new one. */
  readonly postgresUrl?: string;
  readonly say: (text: string) => void;
}

/** Times in milliseconds. */
export interface OnSaleResult extends Verdict {
  readonly seconds: number;
  readonly ordersPerSecond: number;
  /** How many buyers ended with which answer. */
  readonly ends: Readonly<Record<string, number>>;
  /** All answers by status and code, also those after which a page asks again. */
  readonly answers: Readonly<Record<string, number>>;
  /** From "Place order" to the last answer. */
  readonly waitMs: Percentiles;
  /** The same for buyers who got an order. */
  readonly orderMs: Percentiles;
  readonly longestAnswerMs: number;
  /** Of a product page, before the rush and during it. */
  readonly pageIdleMs: Percentiles;
  readonly pageMs: Percentiles;
}

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Sells a show to more buyers than it has seats, and compares what they were told with the books. */
export async function runOnSale(options: OnSaleOptions): Promise<OnSaleResult> {
  const { isHostile, isPlain, bankMs, seats, patienceMs, say } = options;
  const postgres = options.postgresUrl === undefined ? await startPostgres() : null;
  let shop: OnSaleShop | undefined;
  try {
    const postgresUrl = options.postgresUrl ?? (postgres?.url as string);
    shop = await openShop({ ...options, postgresUrl });
    const buyers = await gather(shop, options.buyers, { isPlain, bankMs, say });
    const before = watchPage(shop);
    await sleep(PAGES_BEFORE * PAGE_EVERY_MS);
    const pageIdleMs = percentiles(await before.stop());
    say("on sale");
    const during = watchPage(shop);
    const startedAt = performance.now();
    let orderedAt = startedAt;
    let done = 0;
    const progress = setInterval(() => say(`${done} of ${buyers.length} buyers have their answer`), 5000);
    const attacking = isHostile ? attack(shop, say) : Promise.resolve();
    const experiences = await rush(shop, buyers, {
      patienceMs,
      onEnd({ end }) {
        done += 1;
        if (end === "order") orderedAt = performance.now();
      },
    }).finally(() => clearInterval(progress));
    const pageMs = percentiles(await during.stop());
    const seconds = (performance.now() - startedAt) / 1000;
    await attacking;
    say("comparing the answers with the books");
    const verdict = await judge(shop, experiences, { seats, isPlain, isHostile, patienceMs });
    if (verdict.wrong.length > 0 && process.env.ON_SALE_LOGS) say(shop.logs());
    const ordered = experiences.filter(({ end }) => end === "order");
    return {
      ...verdict,
      ...{ seconds, pageIdleMs, pageMs },
      ordersPerSecond: ordered.length === 0 ? 0 : (ordered.length * 1000) / (orderedAt - startedAt),
      ends: count(experiences.map(({ end }) => end)),
      answers: count(experiences.flatMap(({ answers }) => answers)),
      waitMs: percentiles(experiences.map(({ ms }) => ms)),
      orderMs: percentiles(ordered.map(({ ms }) => ms)),
      longestAnswerMs: Math.max(...experiences.map(({ longestMs }: Experience) => longestMs)),
    };
  } finally {
    await shop?.close();
    await postgres?.stop();
  }
}

/** Kills each process once, and freezes one. */
async function attack(shop: OnSaleShop, say: (text: string) => void): Promise<void> {
  await sleep(3000);
  say("killing the first Medusa");
  await shop.restart(0);
  say("killing the worker");
  await shop.restartWorker();
  say(`freezing the second Medusa for ${FREEZE_MS / 1000} s`);
  await shop.freeze(1, FREEZE_MS);
  say("killing the second Medusa");
  await shop.restart(1);
}

/** Asks for a product page at a fixed rate, of all processes in turn. A page that fails counts as 30 s. */
function watchPage(shop: OnSaleShop) {
  const times: Promise<number>[] = [];
  let index = 0;
  const open = async () => {
    const startedAt = performance.now();
    const { regionId } = shop.market;
    const path = `/store/products?handle=${SHOW}&region_id=${regionId}&fields=*variants.calculated_price`;
    const isShown = await shop
      .storefront(index++)
      .send("GET", path)
      .then(({ status }) => status === 200)
      .catch(() => false);
    return isShown ? performance.now() - startedAt : 30_000;
  };
  const timer = setInterval(() => times.push(open()), PAGE_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(times);
    },
  };
}

function percentiles(times: readonly number[]): Percentiles {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
