import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError, type RunSql } from "@giftcard-pay/checkout";

/** Ends this holder's part of a lease. Never throws; called again it does nothing. */
export type Release = () => Promise<void>;

interface Hold {
  readonly owner: string;
  holders: number;
  heartbeat?: NodeJS.Timeout;
}

/** So that nothing waits for ever for a job that never ends in a process that lives. */
const LONGEST_HOLD_MS = 10 * 60_000;
const POLL_MS = 100;

/** Which process works at a cart's payment. Medusa's own lock, unless a shop configures another, ends at the process. */
export interface CartLeases {
  /**
   * Takes the cart's lease, or joins this process's own: within a process Medusa's lock keeps the jobs apart.
   * @returns null while another process holds it
   */
  take(cartId: string): Promise<Release | null>;
  /** Takes it as soon as nobody else holds it. @throws {CheckoutError} payment_in_progress after `timeoutMs` */
  wait(cartId: string, timeoutMs: number): Promise<Release>;
  /** Whether a job of this process has, or is taking, the cart's lease. */
  isHeld(cartId: string): boolean;
}

const ms = (param: string) => `(${param}::float8 * interval '1 millisecond')`;

/**
 * Leases in Medusa's database, by its clock. They are renewed while their process lives, and run out when it dies or
 * stands still. The journal guards the money; these keep two processes from undoing each other's completion.
 */
export function createCartLeases(run: RunSql, leaseMs: number): CartLeases {
  const holds = new Map<string, Hold>();

  function forget(cartId: string, hold: Hold): void {
    clearInterval(hold.heartbeat);
    if (holds.get(cartId) === hold) holds.delete(cartId);
  }

  async function write(cartId: string, owner: string): Promise<boolean> {
    const rows = await run(
      `insert into giftcard_cart_lease as held (cart_id, owner, until) values ($1, $2, now() + ${ms("$3")})
       on conflict (cart_id) do update set owner = excluded.owner, until = excluded.until
         where held.owner = excluded.owner or held.until <= now() returning cart_id`,
      [cartId, owner, leaseMs],
    );
    return rows.length === 1;
  }

  function keepAlive(cartId: string, hold: Hold): void {
    const endsAt = Date.now() + LONGEST_HOLD_MS;
    const renew = async () => {
      const renewed = run(
        `update giftcard_cart_lease set until = now() + ${ms("$3")} where cart_id = $1 and owner = $2 returning cart_id`,
        [cartId, hold.owner, leaseMs],
      ).catch(() => [{}]);
      // Not there: it had run out, and another process has it, or had it.
      if (Date.now() > endsAt || (await renewed).length === 0) forget(cartId, hold);
    };
    hold.heartbeat ??= setInterval(renew, leaseMs / 3).unref();
  }

  async function leave(cartId: string, hold: Hold): Promise<void> {
    hold.holders -= 1;
    if (hold.holders > 0) return;
    forget(cartId, hold);
    // Where this fails, it runs out.
    const statement = "delete from giftcard_cart_lease where cart_id = $1 and owner = $2";
    await run(statement, [cartId, hold.owner]).catch(() => []);
  }

  async function take(cartId: string): Promise<Release | null> {
    const hold = holds.get(cartId) ?? { owner: randomUUID(), holders: 0 };
    holds.set(cartId, hold);
    hold.holders += 1;
    let isHeld = true;
    const release = async () => {
      if (!isHeld) return;
      isHeld = false;
      await leave(cartId, hold);
    };
    try {
      if (await write(cartId, hold.owner)) {
        keepAlive(cartId, hold);
        return release;
      }
    } catch (error) {
      await release();
      throw error;
    }
    await release();
    return null;
  }

  return {
    take,
    isHeld: (cartId) => holds.has(cartId),
    async wait(cartId, timeoutMs) {
      const until = Date.now() + timeoutMs;
      for (;;) {
        const release = await take(cartId);
        if (release) return release;
        if (Date.now() >= until) throw new CheckoutError("payment_in_progress");
        await sleep(POLL_MS);
      }
    },
  };
}
