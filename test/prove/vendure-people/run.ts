import { startPostgres } from "../../support/postgres.js";
import type { IssuedCard } from "../faults/service.js";
import { createRandom } from "../people/random.js";
import { judgeRound, judgeSale, type Standing } from "./judge.js";
import { administer, type Entry, shop as goShopping, type Round, type Sale, storm } from "./people.js";
import { openShop, type Shop } from "./shop.js";

const ORDERS = 6;
/** How long a round may take to be settled once everyone is gone. */
const SETTLE_MS = 45_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface VendurePeopleOptions {
  /** The first round's seed; each further round takes the next. */
  readonly seed: number;
  /** The first limit that is reached ends the run. */
  readonly rounds?: number;
  readonly minutes?: number;
  readonly signal?: AbortSignal;
  /** A PostgreSQL server to use. Default: a new one. */
  readonly postgresUrl?: string;
  onRound?(result: VendureRound, progress: { readonly orders: number }): void;
}

/** The result of a round. */
export interface VendureRound {
  readonly seed: number;
  readonly seconds: number;
  readonly wrong: readonly string[];
  /** Every step and its answer, if something is wrong. */
  readonly story: string;
}

export interface VendurePeopleResult {
  readonly orders: number;
  readonly minutes: number;
  readonly rounds: readonly VendureRound[];
  /** The number of times that each step had each outcome, and of orders in each state. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Lets random shoppers and staff act on a Vendure, and checks everyone's books after each round. */
export async function runVendurePeople({
  seed,
  rounds = Number.POSITIVE_INFINITY,
  minutes = Number.POSITIVE_INFINITY,
  signal,
  postgresUrl,
  onRound,
}: VendurePeopleOptions): Promise<VendurePeopleResult> {
  const postgres = postgresUrl === undefined ? await startPostgres() : null;
  const counts: Record<string, Record<string, number>> = {};
  const count = (what: string, outcome: string) => {
    const of = (counts[what] ??= {});
    of[outcome] = (of[outcome] ?? 0) + 1;
  };
  const results: VendureRound[] = [];
  let orders = 0;
  let shop: Shop | undefined;
  try {
    shop = await openShop(postgresUrl ?? (postgres?.url as string));
    const startedAt = performance.now();
    const isOver = () => signal?.aborted || performance.now() - startedAt > minutes * 60_000;
    while (results.length < rounds && !isOver()) {
      const began = performance.now();
      const { round, standings, wrong } = await play(shop, seed + results.length);
      orders += round.sales.length;
      for (const { what, answer } of round.entries) count(what, answer.replaceAll(/\d+(\.\d+)?|[A-Z0-9]{16}/g, "#"));
      for (const { order } of standings) count("order", order.state);
      const result = {
        seed: seed + results.length,
        seconds: (performance.now() - began) / 1000,
        wrong,
        story: storyOf(round, wrong),
      };
      results.push(result);
      onRound?.(result, { orders });
    }
    return { orders, minutes: (performance.now() - startedAt) / 60_000, rounds: results, counts };
  } finally {
    await shop?.close();
    await postgres?.stop();
  }
}

const lineOf = ({ atMs, who, what, answer }: Entry) => `${String(atMs).padStart(6)} ms  ${who}: ${what}: ${answer}`;

/** Everything that happened with the orders that are wrong. */
function storyOf({ shop, entries, sales }: Round, wrong: readonly string[]): string {
  const codes = sales.map(({ code }) => code).filter((code) => wrong.some((what) => what.includes(code)));
  const isOf = ({ who }: Entry) =>
    codes.length === 0 || who.startsWith("weather") || codes.some((code) => who.includes(code));
  const logged = shop.world
    .logs()
    .flatMap((log) =>
      log.split("\n").filter((line) => /^error/.test(line) || codes.some((code) => line.includes(code))),
    );
  return [...entries.filter(isOf).map(lineOf), ...logged].join("\n");
}

async function play(shop: Shop, seed: number) {
  const random = createRandom(seed);
  const cards: IssuedCard[] = [];
  const shared = await shop.world.giftcards.issueCard(random.int(2000, 9000));
  cards.push(shared);
  const sales: Sale[] = Array.from({ length: ORDERS }, (_, index) => ({
    ...{ index, id: "", code: "", channel: undefined, secrets: [], isModified: false, refunded: { min: 0, max: 0 } },
  }));
  const isCalm = random.chance(0.5);
  const round: Round = { shop, sales, cards, entries: [], startedAt: performance.now(), isCalm };
  const callsBefore = shop.world.giftcards.proxy.seen.length;
  let isOver = false;
  const shopping = sales.map((sale, index) =>
    goShopping(round, sale, createRandom(seed * 100 + index), async () => shared),
  );
  const others = [
    ...sales.map((sale, index) =>
      index % 3 === 2 ? undefined : administer(round, sale, createRandom(seed * 100 + 50 + index), () => isOver),
    ),
    isCalm ? undefined : storm(round, random, () => isOver),
  ];
  // A shopper can't begin if the server dies at that moment.
  await Promise.allSettled(shopping);
  await pause(2000);
  isOver = true;
  await Promise.allSettled(others);
  await shop.world.calm();
  await shop.world.restore();
  round.entries.sort((a, b) => a.atMs - b.atMs);
  return { round, ...(await settle(round, callsBefore)) };
}

/** Stripe repeats every webhook that a shop may have missed. */
async function repeatWebhooks({ shop, sales }: Round) {
  const codes = sales.map(({ code }) => code);
  const mine = shop.stripe.events.filter(({ type, data }) => {
    const { metadata } = data.object as { metadata?: { orderCode?: string } };
    return type === "payment_intent.succeeded" && codes.includes(metadata?.orderCode ?? "");
  });
  for (const event of mine) await shop.stripe.deliver(event, `${shop.world.urls()[1]}/payments/stripe`).catch(() => 0);
}

/** Waits until recovery has made the books right twice in a row. A person refunds what was overcollected. */
async function settle(round: Round, callsBefore: number) {
  const { shop, sales } = round;
  const begun = sales.filter(({ code }) => code !== "");
  const admin = await shop.world.admin();
  await repeatWebhooks(round);
  const giveUpAt = performance.now() + SETTLE_MS;
  for (let wasRight = false; ; await pause(1000)) {
    const standings: Standing[] = [];
    const wrong: string[] = [];
    for (const sale of begun) {
      const standing = await judgeSale(shop, sale, admin);
      standings.push(standing);
      wrong.push(...standing.wrong.map((what) => `order ${sale.code}: ${what}`));
      if (standing.overcollected > 0) {
        wrong.push(`order ${sale.code}: ${standing.overcollected} are overcollected`);
        const refund = `mutation { refundGiftcardOvercollection(orderCode: "${sale.code}") }`;
        const answer = await admin.call(refund).catch((error: Error) => error.message);
        round.entries.push({
          atMs: 0,
          who: `admin of order ${sale.index} (${sale.code})`,
          what: "refund the excess",
          answer: String(answer),
        });
      }
    }
    wrong.push(...(await judgeRound(round, standings, callsBefore)).wrong);
    if ((wrong.length === 0 && wasRight) || performance.now() > giveUpAt) return { standings, wrong };
    wasRight = wrong.length === 0;
  }
}
