import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { Charge } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock } from "../cart/cart-turn.js";
import { paidOrderOf } from "../completion/paid-orders.js";
import { contextOf } from "../context/context.js";
import { endExpiredLocks } from "../medusa-tables/carts.js";
import { type Scan, takeScanPage } from "../medusa-tables/scan.js";
import { forgetRemainders } from "../medusa-tables/unpaid-orders.js";
import { RECOVERY_LOCK } from "../names.js";
import {
  exemptJob,
  type FailingJob,
  faultOf,
  forgetJob,
  forgetOthers,
  type JobKey,
  noteFailure,
  readExemptJobs,
  readJob,
} from "./failing-jobs.js";
import { type RecoveryTask, type RunOptions, recoveryJobs } from "./recovery-jobs.js";

/** How long a run captures cards. The next run continues. */
const CAPTURE_MS = 20_000;

/** How many tasks of a kind run in parallel. */
const AT_ONCE = 3;
/** A task counts toward that limit for so long. So a payment method that hangs delays its own orders only. */
const COUNTS_MS = 2_000;

/**
 * Finishes what crashes and lost responses left behind: charges whose completion died, owed reversals, orders that
 * were never paid, or canceled or deleted without a reversal, remainders that didn't settle in time, payments without
 * an order, begun captures and refunds, and cards that are still to be captured. Safe to run at any time, and in several
 * processes at once. A failure doesn't stop other jobs: it is recorded with its reason, shown to people, and retried.
 * @returns `charges`: those that it dealt with, in their state afterwards
 * @throws if Medusa's database can't be used
 */
export async function recoverNow(container: MedusaContainer) {
  const { engine, sql, settings } = contextOf(container);
  const failed: JobKey[] = [];
  const fail = async (key: JobKey, error: unknown) => {
    failed.push(key);
    await reportFailure(container, key, error);
  };
  await tryScan(sql, "locks", fail, () => endExpiredLocks(sql));
  const orderOf = (charge: Charge) => paidOrderOf(sql, charge, settings.allowPromisedRemainder);
  const charges = (await tryScan(sql, "charges", fail, () => engine.recover({ orderOf }))) ?? [];
  const scan: Scan = { sql, ...settings, only: null, after: await takeScanPage(sql) };
  const canceledOrderIds: string[] = [];
  const slow: Promise<void>[] = [];
  for (const job of recoveryJobs) {
    const captureUntil = Date.now() + CAPTURE_MS;
    const doAll = async () => {
      const tasks = await findTasks(job, scan, fail);
      // Captures rest between each other.
      const atOnce = job.kind === "capture" ? 1 : AT_ONCE;
      const runAll = (some: readonly RecoveryTask[], optionsOf: (task: RecoveryTask) => RunOptions) =>
        runFew(some, atOnce, async (task) => {
          const isCanceled = await doTask(container, task, fail, optionsOf(task));
          if (isCanceled && job.kind === "cancel_order") canceledOrderIds.push(task.id);
        });
      if (job.kind !== "cancel_order") return runAll(tasks, () => ({ captureUntil }));
      const unpaid: RecoveryTask[] = [];
      const judged = await runAll(tasks, (task) => ({ onUnpaid: () => unpaid.push(task) }));
      return [...judged, ...(await runAll(unpaid, () => ({ isStopped: unpaid.length > settings.maxCancelsPerRun })))];
    };
    if (job.kind === "cancel_order") await inTurn(container, async () => void (await Promise.all(await doAll())));
    else slow.push(...(await doAll()));
  }
  await Promise.all(slow);
  await forgetRemainders(sql);
  return { charges, canceledOrderIds, failed };
}

/** Runs tasks, a few at a time. @returns all of them, once none but slow ones are still running */
async function runFew<T>(tasks: readonly T[], atOnce: number, run: (task: T) => Promise<void>) {
  const running: Promise<void>[] = [];
  const counting = new Set<Promise<unknown>>();
  for (const task of tasks) {
    const job = run(task);
    running.push(job);
    const counted = Promise.race([job, sleep(COUNTS_MS, undefined, { ref: false })]).finally(() =>
      counting.delete(counted),
    );
    counting.add(counted);
    if (counting.size >= atOnce) await Promise.race(counting);
  }
  await Promise.all(counting);
  return running;
}

/**
 * Cancels orders in one run at a time, across all processes, so that they share the limit. A run that waits too long
 * skips it.
 */
async function inTurn(container: MedusaContainer, cancelAll: () => Promise<void>): Promise<void> {
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return cancelAll();
  };
  await withCartLock(container, RECOVERY_LOCK, begin).catch((error: unknown) => {
    if (hasBegun) throw error;
  });
}

type Fail = (key: JobKey, error: unknown) => Promise<void>;

/** Runs a scan. If it fails, reports that, so that other scans continue. @returns null if it failed */
async function tryScan<T>(sql: Sql, id: string, fail: Fail, scan: () => Promise<T>): Promise<T | null> {
  const key: JobKey = { kind: "scan", id, orderId: null };
  try {
    const found = await scan();
    await forgetJob(sql, key);
    return found;
  } catch (error) {
    await fail(key, error);
    return null;
  }
}

/** Finds all tasks of a kind, without those that a person has exempted. */
async function findTasks(
  { kind, finders }: (typeof recoveryJobs)[number],
  scan: Scan,
  fail: Fail,
): Promise<RecoveryTask[]> {
  const found = new Map<string, RecoveryTask>();
  let hasFailed = false;
  for (const [index, find] of finders.entries()) {
    const tasks = await tryScan(scan.sql, `${kind} ${index + 1}`, fail, () => find(scan));
    if (!tasks) hasFailed = true;
    for (const task of tasks ?? []) found.set(task.id, { ...task, kind });
  }
  if (!hasFailed) await forgetOthers(scan.sql, kind, [...found.keys()]);
  const exempt = await readExemptJobs(scan.sql, kind);
  return [...found.values()].filter(({ id }) => !exempt.has(id));
}

async function doTask(
  container: MedusaContainer,
  task: RecoveryTask,
  fail: Fail,
  options: RunOptions,
): Promise<boolean> {
  const { sql } = contextOf(container);
  try {
    const outcome = await task.run(container, options);
    if (outcome !== "postponed") await forgetJob(sql, task);
    return outcome === true;
  } catch (error) {
    await fail(task, error);
    return false;
  }
}

/** Records a failure, and logs it unless the job failed in the same way before. Recovery continues even if the table fails. */
async function reportFailure(container: MedusaContainer, key: JobKey, error: unknown): Promise<void> {
  const { sql, logger } = contextOf(container);
  const { kind, id, orderId } = key;
  if (!(await noteFailure(sql, key, error).catch(() => true))) return;
  const order = orderId === null ? "" : ` order=${orderId}`;
  logger.error(`giftcard recovery job=${kind} id=${id}${order} failed: ${faultOf(error)}`);
}

/**
 * Retries one failing job, for a person.
 * @returns the job afterwards: null if it is done; undefined if there was no such job
 */
export async function retryJob(
  container: MedusaContainer,
  { kind, id }: Pick<JobKey, "kind" | "id">,
): Promise<FailingJob | null | undefined> {
  const { sql } = contextOf(container);
  const before = await readJob(sql, kind, id);
  if (!before) return undefined;
  if (orderOrCart(before) === null) {
    await recoverNow(container);
    return readJob(sql, kind, id);
  }
  const task = await findTask(container, before);
  const fail = (key: JobKey, error: unknown) => reportFailure(container, key, error);
  if (task) await doTask(container, task, fail, { isAsked: true });
  else await forgetJob(sql, before);
  return readJob(sql, kind, id);
}

/**
 * Exempts a failing job from further tries, as a person decided.
 * @returns false if there is no such job (any more)
 * @throws the task's error, if exempting it includes work that fails
 */
export async function exemptFromRecovery(
  container: MedusaContainer,
  { kind, id }: Pick<JobKey, "kind" | "id">,
  actor: string,
): Promise<boolean> {
  const { sql } = contextOf(container);
  const before = await readJob(sql, kind, id);
  if (!before) return false;
  const task = await findTask(container, before);
  if (!task?.exempt) return exemptJob(sql, before, actor);
  await task.exempt(container);
  await forgetJob(sql, before);
  return true;
}

const orderOrCart = ({ orderId, cartId }: FailingJob) => orderId ?? cartId ?? null;

/** Finds the task of a failing job; undefined if there is nothing left to do. */
async function findTask(container: MedusaContainer, job: FailingJob): Promise<RecoveryTask | undefined> {
  const { sql, settings } = contextOf(container);
  const only = orderOrCart(job);
  if (only === null) return undefined;
  const scan: Scan = { sql, ...settings, after: "", only };
  const found = new Map<string, RecoveryTask>();
  for (const find of recoveryJobs.find(({ kind }) => kind === job.kind)?.finders ?? [])
    for (const task of await find(scan)) found.set(task.id, { ...task, kind: job.kind });
  return found.get(job.id);
}
