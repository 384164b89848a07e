import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import type { Release, Turn } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";
import { cartOfOrder } from "../medusa-tables/carts.js";

export const PATIENCE_MS = 30_000;
/** As long as Medusa locks a cart that it completes. */
const LOCK_SECONDS = 120;
const POLL_MS = 50;

/**
 * Runs a job once it has exclusive use of the cart, across all processes of the shop. Meanwhile nobody changes the cart's
 * cards or sessions, or completes it. The job takes its lease on the cart first and Medusa's lock second. A completion,
 * which takes the lock first, may take over the lease until the job has the lock too. The job must read everything
 * itself: the cart may have changed while it waited.
 * @param job must not run a workflow that takes Medusa's lock on the cart
 * @returns the job's result, and its turn. Medusa's lock is released
 * @throws {CheckoutError} payment_in_progress if that takes too long
 */
export async function beginTurn<T>(
  container: MedusaContainer,
  cartId: string,
  job: () => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<{ answer: T; turn: Turn }> {
  const { leases } = contextOf(container);
  const until = Date.now() + patienceMs;
  for (;;) {
    const turn = await leases.wait(cartId, until - Date.now(), { givesWay: true });
    try {
      const unlock = await lock(container, cartId, until);
      try {
        // A completion that had Medusa's lock before may have taken the lease.
        if (await turn.keep()) {
          const answer = await job();
          return { answer, turn };
        }
      } finally {
        await unlock();
      }
    } catch (error) {
      await turn.release();
      throw error;
    }
    await turn.release();
  }
}

/** Runs a job like `beginTurn`, and ends the turn. */
export async function withCartLock<T>(container: MedusaContainer, cartId: string, job: () => Promise<T>): Promise<T> {
  const { answer, turn } = await beginTurn(container, cartId, job);
  await turn.release();
  return answer;
}

/**
 * Runs a job with Medusa's lock on the cart of an order, which a webhook takes before it captures a payment. The caller has
 * the cart's lease. Since the cart is ordered, no completion waits for the lease with that lock.
 * @throws {CheckoutError} payment_in_progress if somebody else has the lock for too long
 */
export async function withLock<T>(container: MedusaContainer, cartId: string, job: () => Promise<T>): Promise<T> {
  const unlock = await lock(container, cartId, Date.now() + PATIENCE_MS);
  try {
    return await job();
  } finally {
    await unlock();
  }
}

/** Renews a job's lease. @throws {CheckoutError} payment_in_progress if it is lost: nothing may be done */
export type Keep = () => Promise<void>;

/**
 * Runs a job while nobody else changes this order, in any process.
 * @param job calls `keep` before each step that moves money: it may have stalled for longer than its lease. `cartId`: the order's
 *   cart; null if no card was ever on it
 * @throws {CheckoutError} payment_in_progress if another job has the order for too long
 */
export async function withOrderLease<T>(
  container: MedusaContainer,
  orderId: string,
  job: (keep: Keep, cartId: string | null) => Promise<T>,
): Promise<T> {
  const { leases, sql } = contextOf(container);
  const cartId = await cartOfOrder(sql, orderId);
  const turn = await leases.wait(cartId ?? orderId, PATIENCE_MS);
  try {
    const keep = async () => {
      if (!(await turn.keep())) throw new CheckoutError("payment_in_progress");
    };
    return await job(keep, cartId);
  } finally {
    await turn.release();
  }
}

/** Takes Medusa's lock. @throws {CheckoutError} payment_in_progress if somebody else has it for too long */
async function lock(container: MedusaContainer, cartId: string, until: number): Promise<Release> {
  const locking = container.resolve(Modules.LOCKING);
  const ownerId = `giftcard_${randomUUID()}`;
  for (;;) {
    // Medusa's providers throw if somebody else has the lock, each in its own words.
    const isMine = await locking.acquire(cartId, { ownerId, expire: LOCK_SECONDS }).then(
      () => true,
      () => false,
    );
    // If the release fails, the lock expires.
    if (isMine) return () => locking.release(cartId, { ownerId }).then(noop, noop);
    if (Date.now() >= until) throw new CheckoutError("payment_in_progress");
    await sleep(POLL_MS);
  }
}

const noop = () => {};
