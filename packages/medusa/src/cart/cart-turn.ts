import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import type { Release, Turn } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";

/** How long a job waits for its turn at a cart. */
export const PATIENCE_MS = 30_000;
/** As long as Medusa locks a cart that it completes. */
const LOCK_SECONDS = 120;
const POLL_MS = 50;

/**
 * Waits until this job has the cart alone, in all processes of the shop, then does it: nobody changes the cart's cards
 * or sessions, or completes it, meanwhile. The turn comes first and Medusa's own lock second, and a completion, which has
 * the lock first, may take the turn until then. What the job decides on, it reads itself: the cart may have become
 * another one while it waited.
 *
 * @param job must not run a workflow that takes Medusa's lock on the cart itself
 * @returns what the job returned, and what ends the turn; Medusa's lock is free again
 * @throws {CheckoutError} payment_in_progress when that takes too long
 */
export async function beginTurn<T>(
  container: MedusaContainer,
  cartId: string,
  job: () => Promise<T>,
): Promise<{ answer: T; turn: Turn }> {
  const { leases } = contextOf(container);
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const turn = await leases.waitGivingWay(cartId, until - Date.now());
    try {
      const unlock = await lock(container, cartId, until);
      try {
        // A completion that had Medusa's lock before may have taken the turn.
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

/** Does a job as `beginTurn` says, and ends the turn. */
export async function withCartLock<T>(
  container: MedusaContainer,
  cartId: string,
  job: () => Promise<T>,
): Promise<T> {
  const { answer, turn } = await beginTurn(container, cartId, job);
  await turn.release();
  return answer;
}

/** @returns what ends the lock @throws {CheckoutError} payment_in_progress where somebody has it for longer */
async function lock(container: MedusaContainer, cartId: string, until: number): Promise<Release> {
  const locking = container.resolve(Modules.LOCKING);
  const ownerId = `giftcard_${randomUUID()}`;
  for (;;) {
    // Medusa's providers say by throwing that another one has the lock, each in its own words.
    const isMine = await locking.acquire(cartId, { ownerId, expire: LOCK_SECONDS }).then(
      () => true,
      () => false,
    );
    // Where this fails, the lock runs out.
    if (isMine) return () => locking.release(cartId, { ownerId }).then(noop, noop);
    if (Date.now() >= until) throw new CheckoutError("payment_in_progress");
    await sleep(POLL_MS);
  }
}

const noop = () => {};
