import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { asValue } from "@medusajs/framework/awilix";
import type { Migration } from "@medusajs/framework/mikro-orm/migrations";
import type { MedusaContainer } from "@medusajs/framework/types";
import { createMedusaContainer, Modules } from "@medusajs/framework/utils";
import { InMemoryLockingProvider } from "@medusajs/locking/dist/providers/in-memory.js";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { beginTurn, withCartLock } from "../src/cart/cart-turn.js";
import { type CartLeases, createCartLeases, type Release } from "../src/context/cart-leases.js";
import { Migration20261121000000 as Tables } from "../src/modules/giftcard/migrations/Migration20261121000000.js";
import { GIFTCARD_MODULE } from "../src/names.js";

/* Several processes take turns at one cart, on a real database and with Medusa's own lock. */

/** A lease that never expires by itself during a test. */
const LEASE_MS = 200_000;
/** The longest that any job may wait, even on a slow machine. */
const SOON_MS = 90_000;
/** The number of schedules that run concurrently. */
const AT_ONCE = 100;

let pool: pg.Pool;
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await testDatabase(), max: 8 });
  const tables: Migration = new Tables({} as never, {} as never);
  await tables.up();
  for (const statement of tables.getQueries()) await pool.query(String(statement));
});
afterAll(() => pool?.end());

const leasesOf = async (cartId: string) =>
  (await pool.query("select * from giftcard_cart_lease where cart_id = $1", [cartId])).rows;

/** Statements on a cart whose response is lost after they ran, counted from the next one. */
const lost = new Map<string, Set<number>>();
const sql: Sql = async (text, params) => {
  const { rows } = await pool.query(text, params);
  const of = lost.get(String(params[0]));
  if (of && !text.startsWith("delete")) {
    const next = [...of].map((count) => count - 1);
    lost.set(String(params[0]), new Set(next));
    if (next.includes(-1)) throw new Error("the connection was lost");
  }
  return rows;
};

interface Process {
  readonly leases: CartLeases;
  readonly locking: InMemoryLockingProvider;
  readonly container: MedusaContainer;
}

/** @param locking Medusa's locking module; pass the same one to simulate several processes that share it */
function startProcess(locking = new InMemoryLockingProvider()): Process {
  const leases = createCartLeases(sql, LEASE_MS);
  const container = createMedusaContainer();
  container.register({
    [Modules.LOCKING]: asValue(locking),
    [GIFTCARD_MODULE]: asValue({ leases, sql }),
  } as never);
  return { leases, locking, container };
}

const newCart = () => `cart_${randomUUID()}`;

/** Medusa's lock on the cart, as a completion takes it. */
async function lockAsMedusa({ locking }: Process, cartId: string): Promise<() => Promise<unknown>> {
  const ownerId = randomUUID();
  for (const until = Date.now() + SOON_MS; Date.now() < until; await sleep(20)) {
    const isMine = await locking.acquire(cartId, { ownerId, expire: 120 }).then(
      () => true,
      () => false,
    );
    if (isMine) return () => locking.release(cartId, { ownerId });
  }
  throw new Error("Medusa has waited in vain for its lock");
}

async function holdAsCompletion({ leases }: Process, cartId: string): Promise<Release> {
  for (const until = Date.now() + SOON_MS; Date.now() < until; await sleep(20)) {
    const release = (await leases.join(cartId)) ?? (await leases.takeOver(cartId));
    if (release) return release;
  }
  throw new Error("a completion has waited in vain for its turn");
}

test("a database error does not block the cart: a completion joining a turn", async () => {
  const [one, cartId] = [startProcess(), newCart()];
  const release = await one.leases.take(cartId);
  lost.set(cartId, new Set([0]));
  await expect(one.leases.join(cartId)).rejects.toThrow("the connection was lost");
  await release?.();
  expect(one.leases.isHeld(cartId)).toBe(false);
  expect(await leasesOf(cartId)).toEqual([]);
});

test("a database error does not block the cart: a turn yielding again", async () => {
  const [one, cartId] = [startProcess(), newCart()];
  const { turn } = await beginTurn(one.container, cartId, async () => {});
  lost.set(cartId, new Set([0]));
  await turn.giveWay();
  await turn.release();
  expect(one.leases.isHeld(cartId)).toBe(false);
  expect(await leasesOf(cartId)).toEqual([]);
});

test("a database error does not block the cart: the response to taking a turn is lost", async () => {
  const [one, other, cartId] = [startProcess(), startProcess(), newCart()];
  lost.set(cartId, new Set([0]));
  await expect(one.leases.take(cartId)).rejects.toThrow("the connection was lost");
  expect(await other.leases.take(cartId)).not.toBeNull();
});

test("a completion may interrupt until the job has the cart, and not afterwards", async () => {
  const [one, cartId] = [startProcess(), newCart()];
  const turn = await one.leases.wait(cartId, SOON_MS, { givesWay: true });
  const completion = await one.leases.join(cartId);
  expect(completion).not.toBeNull();
  expect(await one.leases.join(cartId)).toBeNull();
  expect(await turn.keep()).toBe(false);
  await completion?.();
  expect(await turn.keep()).toBe(true);
  expect(await one.leases.join(cartId)).toBeNull();
  await turn.release();
});

test("a job waiting for Medusa's lock yields to every completion, of any process", async () => {
  const [one, other, cartId] = [startProcess(), startProcess(), newCart()];
  const turn = await one.leases.wait(cartId, SOON_MS, { givesWay: true });
  await (await one.leases.join(cartId))?.();
  expect(await other.leases.takeOver(cartId)).not.toBeNull();
  expect(await turn.keep()).toBe(false);
});

test("a completion takes a yielding turn even if a job of its own process waits for that turn", async () => {
  const [one, other, cartId] = [startProcess(), startProcess(), newCart()];
  const page = await other.leases.take(cartId);
  const admin = one.leases.wait(cartId, SOON_MS);
  expect(one.leases.isHeld(cartId)).toBe(true);
  const completion = await one.leases.takeOver(cartId);
  expect(completion).not.toBeNull();
  await completion?.();
  await page?.();
  await (await admin).release();
  expect(await leasesOf(cartId)).toEqual([]);
});

type Kind = "change" | "admin" | "page" | "prepared page" | "webhook";

interface Job {
  readonly kind: Kind;
  readonly process: number;
  readonly afterMs: number;
  readonly workMs: number;
}

interface Schedule {
  readonly isLockShared: boolean;
  readonly lost: readonly number[];
  readonly jobs: readonly Job[];
}

const jobs = fc.record<Job>({
  kind: fc.constantFrom<Kind>("change", "admin", "page", "prepared page", "webhook"),
  process: fc.nat({ max: 2 }),
  afterMs: fc.nat({ max: 150 }),
  workMs: fc.nat({ max: 60 }),
});
const schedules = fc.record<Schedule>({
  isLockShared: fc.boolean(),
  lost: fc.oneof(fc.constant([]), fc.array(fc.nat({ max: 20 }), { maxLength: 3 })),
  jobs: fc.array(jobs, { minLength: 2, maxLength: 7 }),
});

/** Runs a schedule on a cart of its own. @throws if two jobs hold the cart at once, or leave something behind */
async function play({ isLockShared, lost: answers, jobs }: Schedule): Promise<void> {
  const cartId = newCart();
  const shared = isLockShared ? new InMemoryLockingProvider() : undefined;
  const processes = [startProcess(shared), startProcess(shared), startProcess(shared)];
  lost.set(cartId, new Set(answers));
  let atWork = 0;
  const work = async (ms: number) => {
    atWork += 1;
    expect(atWork).toBe(1);
    await sleep(ms);
    atWork -= 1;
  };
  const complete = async (process: Process, workMs: number) => {
    const unlock = await lockAsMedusa(process, cartId);
    try {
      const release = await holdAsCompletion(process, cartId);
      await work(workMs).finally(release);
      await sleep(workMs / 2);
    } finally {
      await unlock();
    }
  };
  const preparePage = async (process: Process, kind: Kind) => {
    const free = kind === "page" ? await process.leases.take(cartId) : null;
    if (free) return free;
    const { turn } = await beginTurn(process.container, cartId, () => work(5));
    await turn.giveWay();
    return turn.release;
  };
  const playJob = async ({ kind, process: index, afterMs, workMs }: Job) => {
    const process = processes[index] as Process;
    await sleep(afterMs);
    if (kind === "webhook") return complete(process, workMs);
    if (kind === "change") return withCartLock(process.container, cartId, () => work(workMs));
    if (kind === "admin") {
      const { release } = await process.leases.wait(cartId, SOON_MS);
      return work(workMs).finally(release);
    }
    const release = await preparePage(process, kind);
    return complete(process, workMs).finally(release);
  };
  for (const { reason } of await Promise.allSettled(jobs.map(playJob)).then(rejected)) {
    if (reason instanceof CheckoutError || !String(reason).includes("the connection was lost")) throw reason;
  }
  expect(processes.map(({ leases }) => leases.isHeld(cartId))).toEqual([false, false, false]);
  expect(await leasesOf(cartId)).toEqual([]);
}

const rejected = (ends: PromiseSettledResult<unknown>[]) =>
  ends.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];

test("jobs are mutually exclusive per cart, never wait in vain, and leave nothing behind", async () => {
  // The schedules are deterministic; `SEED=… RUNS=1000` runs others.
  const { SEED: seed = 1, RUNS: runs = 150 } = process.env;
  const left = fc.sample(schedules, { seed: Number(seed), numRuns: Number(runs) });
  const tell = (schedule: Schedule) => (error: unknown) => ({ schedule, error: String(error) });
  while (left.length > 0) {
    const some = left.splice(0, AT_ONCE);
    const ends = await Promise.all(some.map((schedule) => play(schedule).catch(tell(schedule))));
    expect(ends.filter((failure) => failure !== undefined).slice(0, 3)).toEqual([]);
  }
});
