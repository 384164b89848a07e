import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError, type RunSql, sqlInterval } from "@giftcard-pay/checkout";

/** Ends this job's part of a turn. Never throws; called again it does nothing. */
export type Release = () => Promise<void>;

interface Hold {
  readonly owner: string;
  holders: number;
  /** False while the lease in the database is another process's. */
  isTaken: boolean;
  wasJoined: boolean;
  heartbeat?: NodeJS.Timeout;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** So that nothing waits for ever for a job that never ends in a process that lives. */
const LONGEST_HOLD_MS = 10 * 60_000;
const POLL_MS = 100;

/** Whose turn it is to work at a cart's cards and payment. One job has it, in all processes of the shop together. */
export interface CartLeases {
  /** Takes the turn if it is free. @returns null where a job of this or another process has it, or waits for it */
  take(cartId: string): Promise<Release | null>;
  /**
   * Takes the turn once it is free, after the jobs of this process that wait already.
   * @throws {CheckoutError} payment_in_progress after `timeoutMs`
   */
  wait(cartId: string, timeoutMs: number): Promise<Release>;
  /**
   * Makes a turn that a job of this process has last until the caller has ended too. Only for a completion, which has
   * Medusa's lock on the cart: whoever has the turn and not that lock does nothing meanwhile.
   * @returns null where no job of this process has the turn
   */
  join(cartId: string): Release | null;
  /** Whether a completion has joined the turn that a job of this process has. */
  wasJoined(cartId: string): boolean;
  /** Whether a job of this process has the turn, or is taking it. */
  isHeld(cartId: string): boolean;
}

function newHold(): Hold {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { owner: randomUUID(), holders: 1, isTaken: false, wasJoined: false, ended, end };
}

/**
 * Turns, as leases in Medusa's database by its clock. They are renewed while their process lives, and run out when it
 * dies or stands still. The journal guards the money; these keep two jobs from undoing each other's work.
 */
export function createCartLeases(run: RunSql, leaseMs: number): CartLeases {
  const holds = new Map<string, Hold>();

  function begin(cartId: string): Hold {
    const hold = newHold();
    holds.set(cartId, hold);
    return hold;
  }

  function forget(cartId: string, hold: Hold): void {
    clearInterval(hold.heartbeat);
    if (holds.get(cartId) === hold) holds.delete(cartId);
    hold.end();
  }

  /** @returns whether the lease is this hold's; where that can't be asked, the hold is over */
  async function write(cartId: string, hold: Hold): Promise<boolean> {
    try {
      const rows = await run(
        `insert into giftcard_cart_lease as held (cart_id, owner, until) values ($1, $2, now() + ${sqlInterval("$3")})
         on conflict (cart_id) do update set owner = excluded.owner, until = excluded.until
           where held.until <= now() returning cart_id`,
        [cartId, hold.owner, leaseMs],
      );
      return rows.length === 1;
    } catch (error) {
      forget(cartId, hold);
      throw error;
    }
  }

  function enter(cartId: string, hold: Hold): Release {
    const endsAt = Date.now() + LONGEST_HOLD_MS;
    const renew = async () => {
      const renewed = run(
        `update giftcard_cart_lease set until = now() + ${sqlInterval("$3")} where cart_id = $1 and owner = $2 returning cart_id`,
        [cartId, hold.owner, leaseMs],
      ).catch(() => [{}]);
      // Not there: it had run out, and another process has it, or had it.
      if (Date.now() > endsAt || (await renewed).length === 0) forget(cartId, hold);
    };
    hold.isTaken = true;
    hold.heartbeat = setInterval(renew, leaseMs / 3).unref();
    return releaseOf(cartId, hold);
  }

  function releaseOf(cartId: string, hold: Hold): Release {
    let isOver = false;
    return async () => {
      if (isOver) return;
      isOver = true;
      hold.holders -= 1;
      if (hold.holders > 0) return;
      clearInterval(hold.heartbeat);
      // Where this fails, it runs out.
      const statement = "delete from giftcard_cart_lease where cart_id = $1 and owner = $2";
      await run(statement, [cartId, hold.owner]).catch(() => []);
      forget(cartId, hold);
    };
  }

  return {
    isHeld: (cartId) => holds.has(cartId),
    async take(cartId) {
      if (holds.has(cartId)) return null;
      const hold = begin(cartId);
      if (await write(cartId, hold)) return enter(cartId, hold);
      forget(cartId, hold);
      return null;
    },
    async wait(cartId, timeoutMs) {
      const until = Date.now() + timeoutMs;
      for (let other = holds.get(cartId); other; other = holds.get(cartId)) {
        if (!(await endsBefore(other, until))) throw new CheckoutError("payment_in_progress");
      }
      const hold = begin(cartId);
      while (!(await write(cartId, hold))) {
        if (Date.now() >= until) {
          forget(cartId, hold);
          throw new CheckoutError("payment_in_progress");
        }
        await sleep(POLL_MS);
      }
      return enter(cartId, hold);
    },
    join(cartId) {
      const hold = holds.get(cartId);
      // Its last holder may be ending it this moment.
      if (!hold?.isTaken || hold.holders === 0) return null;
      hold.holders += 1;
      hold.wasJoined = true;
      return releaseOf(cartId, hold);
    },
    wasJoined: (cartId) => holds.get(cartId)?.wasJoined === true,
  };
}

async function endsBefore(hold: Hold, until: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, until - Date.now()), false);
  });
  try {
    return await Promise.race([hold.ended.then(() => true), time]);
  } finally {
    clearTimeout(timer);
  }
}
