import { checkLedger } from "../../../packages/service/dist/store/ledger-check.js";
import { startPostgres } from "../../support/postgres.js";
import { buy, type Expect } from "./buy.js";
import { type CartPlan, makeCart } from "./make-cart.js";
import { type CartShop, openShop } from "./open-shop.js";
import { takeAllBack } from "./take-all-back.js";

export interface CartsOptions {
  /** The first cart's seed; each further cart takes the next. */
  readonly seed: number;
  readonly carts: number;
  /** The most units that a line has. Default 13. */
  readonly mostUnits?: number;
  /** The number of shops that run in parallel. Default 2. */
  readonly workers?: number;
  /** A PostgreSQL server to use. Default: a new one. */
  readonly postgresUrl?: string;
  readonly onCart?: (result: CartResult, done: number) => void;
  readonly signal?: AbortSignal;
}

export interface CartResult {
  readonly plan: CartPlan;
  readonly paidCents: number;
  readonly cards: number;
  /** Descriptions of the failed checks. */
  readonly wrong: readonly string[];
  readonly seconds: number;
}

/** Buys random carts, refunds everything, and compares the books of Medusa, the service and the bank. */
export async function runCarts(options: CartsOptions): Promise<CartResult[]> {
  const { seed, carts, workers = 2, mostUnits, onCart = () => {}, signal } = options;
  const postgres = options.postgresUrl === undefined ? await startPostgres() : null;
  const postgresUrl = options.postgresUrl ?? (postgres?.url as string);
  const results: CartResult[] = [];
  let begun = 0;
  const work = async () => {
    const shop = await openShop(postgresUrl);
    try {
      while (begun < carts && !signal?.aborted) {
        const result = await play(shop, makeCart(seed + begun++, mostUnits));
        results.push(result);
        onCart(result, results.length);
      }
    } finally {
      await shop.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(workers, carts) }, work));
  } finally {
    await postgres?.stop();
  }
  return results.sort((a, b) => a.plan.seed - b.plan.seed);
}

async function play(shop: CartShop, plan: CartPlan): Promise<CartResult> {
  const startedAt = performance.now();
  const wrong: string[] = [];
  const expect: Expect = (isRight, what) => void (isRight || wrong.push(what));
  const figures = { paidCents: 0, cards: 0 };
  try {
    const bought = await buy(shop, plan, expect);
    Object.assign(figures, { paidCents: bought.paidCents, cards: bought.cards.length });
    await takeAllBack({ shop, plan, bought, expect });
    const { faults } = await checkLedger(shop.world.giftcards.books);
    expect(faults.length === 0, `the service's ledger check finds ${faults.length} faults`);
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
  }
  return { plan, ...figures, wrong, seconds: (performance.now() - startedAt) / 1000 };
}
