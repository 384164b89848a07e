import { startPostgres } from "../../support/postgres.js";
import { readMarket } from "../faults/medusa/tenders.js";
import { openWorld, type World } from "../faults/medusa/world.js";
import { pause } from "../faults/run-cell.js";
import { createRandom } from "../people/random.js";
import { judge } from "./judge.js";
import { type BoughtOrder, buy, prices } from "./orders.js";

/** Short, so that the leases of a killed process soon expire. */
const LEASE_MS = 4000;
/** After the last kill, the remaining refunds must be finished within this time. */
const PATIENCE_MS = 300_000;

export interface BulkRefundOptions {
  /** The number of orders to refund. */
  readonly orders: number;
  /** How long Medusa runs before each kill, on average. Default one second. */
  readonly lifeMs?: number;
  /** The most kills. Default: Medusa is killed until no order is open. */
  readonly kills?: number;
  readonly seed?: number;
  /** A PostgreSQL server to use. Default: a new one. */
  readonly postgresUrl?: string;
  readonly say?: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface BulkRefundResult {
  readonly orders: number;
  readonly kills: number;
  /** How often a person had to decide whether the bank made a refund. */
  readonly decisions: number;
  readonly amountCents: number;
  readonly planSeconds: number;
  readonly minutes: number;
  readonly wrong: readonly string[];
}

/**
 * Refunds the orders of a canceled show while Medusa is killed repeatedly and the service is down half of the time. Then
 * compares the books of the service, the bank and Medusa with the refunds due.
 */
export async function runBulkRefund(options: BulkRefundOptions): Promise<BulkRefundResult> {
  const startedAt = performance.now();
  const postgres = options.postgresUrl === undefined ? await startPostgres() : null;
  const plugin = { charges: "by-line", timeoutMs: 3000, leaseMs: LEASE_MS } as const;
  const url = options.postgresUrl ?? (postgres?.url as string);
  try {
    const world = await openWorld(url, plugin, { recoversOften: true });
    try {
      const played = await play(world, options);
      return { ...played, minutes: (performance.now() - startedAt) / 60_000 };
    } finally {
      await world.close();
    }
  } finally {
    await postgres?.stop();
  }
}

async function play(world: World, options: BulkRefundOptions): Promise<Omit<BulkRefundResult, "minutes">> {
  const { say = () => {}, signal } = options;
  const productId = await world.storefront.createProduct("show", prices.show);
  await world.storefront.createProduct("encore", prices.encore);
  const orders = await buyAll(world, options);
  const planStartedAt = performance.now();
  const { plan } = await admin(world, "POST", "refund-plan", { productId });
  const planSeconds = (performance.now() - planStartedAt) / 1000;
  const amountCents = orders.reduce((sum, { backCents }) => sum + backCents, 0);
  if (plan.amountCents !== amountCents || plan.refused.length > 0)
    throw new Error(`the plan is ${plan.amountCents}, not ${amountCents}; ${plan.refused.length} are refused`);
  say(`planned in ${planSeconds.toFixed(1)} s: ${plan.orders.length} orders, ${(amountCents / 100).toFixed(2)} euro`);
  const { sold, title } = plan;
  const { bulkRefund } = await admin(world, "POST", "bulk-refunds", { sold, title, amountCents });
  const kills = await killUntilOver(world, bulkRefund.id, options);
  const decisions = await settle(world, bulkRefund.id, orders, signal);
  const report = (await admin(world, "GET", `bulk-refunds/${bulkRefund.id}`)).bulkRefund;
  const wrong = await judge(world, orders);
  const left = await leftOver(world);
  if (left > 0) wrong.push(`${left} refunds are not made or not booked`);
  const { done, doneCents, open, waiting } = report;
  if (done !== orders.length || doneCents !== amountCents || open + waiting.length > 0)
    wrong.push(`the report says ${done} orders, ${doneCents} cents, ${open} open, ${waiting.length} waiting`);
  for (const { orderId, why } of waiting) wrong.push(`${orderId} waits: ${why}`);
  return { orders: orders.length, kills, decisions, amountCents, planSeconds, wrong };
}

async function buyAll(world: World, { orders, say = () => {}, signal }: BulkRefundOptions): Promise<BoughtOrder[]> {
  const market = await readMarket(world.storefront);
  const bought: BoughtOrder[] = [];
  let next = 0;
  const buyNext = async () => {
    while (next < orders && !signal?.aborted) {
      const order = await buy({ world, market }, next++);
      bought.push(order);
      if (bought.length % 100 === 0) say(`${bought.length} orders bought`);
    }
  };
  await Promise.all([buyNext(), buyNext(), buyNext()]);
  return bought;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of the admin, read by their caller
const admin = (world: World, method: string, path: string, body?: unknown): Promise<any> =>
  world.storefront.ok(method, `/admin/giftcard-pay/${path}`, body);

/** Kills Medusa repeatedly until no order is open. @returns the number of kills */
async function killUntilOver(world: World, bulkRefundId: string, options: BulkRefundOptions): Promise<number> {
  const { lifeMs = 1000, kills: most = Number.POSITIVE_INFINITY, seed = 1, say = () => {}, signal } = options;
  const random = createRandom(seed);
  let kills = 0;
  for (; kills < most && (await openOrders(world, bulkRefundId)) > 0 && !signal?.aborted; kills += 1) {
    await world.giftcards.proxy.listen(kills % 2 === 1);
    await pause(random.int(lifeMs / 2, (lifeMs * 3) / 2));
    await world.kill();
    await world.restore();
    if ((kills + 1) % 10 === 0) say(`killed ${kills + 1} times, ${await openOrders(world, bulkRefundId)} orders to go`);
  }
  await world.giftcards.proxy.listen(true);
  return kills;
}

async function openOrders({ shopBooks }: World, bulkRefundId: string): Promise<number> {
  const { rows } = await shopBooks.query(
    "select count(*)::int as open from giftcard_bulk_refund_order where bulk_refund_id = $1 and state = 'open'",
    [bulkRefundId],
  );
  return rows[0].open;
}

/** Counts the reversals still owed to cards, and the refunds that no order has a transaction for. */
async function leftOver({ shopBooks }: World): Promise<number> {
  const { rows } = await shopBooks.query(
    `select (select count(*) from giftcard_charge where state = 'reversing')
       + (select count(*) from refund where deleted_at is null and (select count(*) from order_transaction t
         where t.reference_id = refund.id and t.deleted_at is null) = 0) as left`,
  );
  return Number(rows[0].left);
}

/** Acts as the person who checks the bank's refunds, until nothing is left. @returns the number of their decisions */
async function settle(
  world: World,
  bulkRefundId: string,
  orders: readonly BoughtOrder[],
  signal?: AbortSignal,
): Promise<number> {
  let decisions = 0;
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const { bulkRefund } = await admin(world, "GET", `bulk-refunds/${bulkRefundId}`);
    const left = bulkRefund.open + bulkRefund.waiting.length + (await leftOver(world));
    if (left === 0 || signal?.aborted || performance.now() > giveUpAt) return decisions;
    const { jobs } = await admin(world, "GET", "jobs?limit=200");
    // Retries of a reversal back off to an hour. The person asks for a retry now.
    const { charges } = await admin(world, "GET", "charges?state=reversing&limit=200");
    for (const { reference } of charges)
      await world.storefront.send("POST", `/admin/giftcard-pay/charges/${reference}/retry`, {});
    for (const { kind, id, orderId } of jobs.filter((job: { kind: string }) => job.kind === "unknown_refund")) {
      const order = orders.find((one) => one.orderId === orderId);
      const isMade = world.bank.deeds(order?.cartId ?? "").some(({ deed }) => deed === "refund");
      const path = `/admin/giftcard-pay/jobs/${kind}/${id}/${isMade ? "exempt" : "retry"}`;
      if ((await world.storefront.send("POST", path, {})).status === 200) decisions += 1;
    }
    // The person retries a waiting order once it has no open job.
    for (const { orderId } of bulkRefund.waiting) {
      const isOpen = [...jobs, ...charges].some((open: { orderId: string | null }) => open.orderId === orderId);
      const path = `/admin/giftcard-pay/bulk-refunds/${bulkRefundId}/orders/${orderId}/retry`;
      if (!isOpen) await world.storefront.send("POST", path, {});
    }
    await pause(500);
  }
}
