import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError } from "@giftcard-pay/checkout";
import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";

/** Ends this job's part of a turn. Never throws. Idempotent. */
export type Release = () => Promise<void>;

/** A job's turn, and how to end it. */
export interface Turn {
  readonly release: Release;
  /**
   * Renews it, and no longer gives way. Call it before each step that moves money, and once the job has Medusa's lock.
   * @returns false if it is lost, or a completion has taken or shares it
   */
  keep(): Promise<boolean>;
  /** Call it after releasing Medusa's lock, to let the job's own completion join. Never throws. */
  giveWay(): Promise<void>;
}

interface Hold {
  readonly owner: string;
  holders: number;
  /** False while another process has the lease in the database. True even if the database's response was lost. */
  isTaken: boolean;
  /** Whether a completion may take or join it. */
  givesWay: boolean;
  /** Whether a completion has it, or is taking it. */
  hasCompletion: boolean;
  wasJoined: boolean;
  isOver: boolean;
  heartbeat?: NodeJS.Timeout;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** Limits the wait for a job that never ends although its process lives. */
const LONGEST_HOLD_MS = 10 * 60_000;
const POLL_MS = 100;

function newHold(givesWay: boolean): Hold {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const isNot = { isTaken: false, hasCompletion: false, wasJoined: false, isOver: false };
  return { owner: randomUUID(), holders: 1, givesWay, ...isNot, ended, end };
}

function onlyOnce(end: () => Promise<void>): Release {
  let isOver = false;
  return async () => {
    if (isOver) return;
    isOver = true;
    await end();
  };
}

export type CartLeases = ReturnType<typeof createCartLeases>;

/**
 * Creates leases of carts in Medusa's database, by its clock. They are renewed while their process lives, and expire when
 * it dies or stalls. Only one job has a cart's turn, across all processes of the shop, to change its cards and payment. The
 * journal protects the money; the leases keep two jobs from undoing each other's work.
 *
 * A completion has Medusa's lock on the cart before it asks for the turn; every other job takes the turn first. To
 * avoid a deadlock, a job that waits for that lock gives way to a completion until it has the lock.
 */
export function createCartLeases(sql: Sql, leaseMs: number) {
  const holds = new Map<string, Hold>();

  function begin(cartId: string, givesWay: boolean): Hold {
    const hold = newHold(givesWay);
    holds.set(cartId, hold);
    return hold;
  }

  function forget(cartId: string, hold: Hold): void {
    hold.isOver = true;
    clearInterval(hold.heartbeat);
    if (holds.get(cartId) === hold) holds.delete(cartId);
    hold.end();
  }

  async function leave(cartId: string, hold: Hold): Promise<void> {
    hold.holders -= 1;
    if (hold.holders > 0) return;
    clearInterval(hold.heartbeat);
    // If this fails, the lease expires.
    const statement = "delete from giftcard_cart_lease where cart_id = $1 and owner = $2";
    if (hold.isTaken) await sql(statement, [cartId, hold.owner]).catch(() => []);
    forget(cartId, hold);
  }

  /**
   * Tries to take the lease.
   * @param by a job, or a completion, to which jobs give way
   * @returns false if another process has it
   */
  async function tryFor(cartId: string, hold: Hold, by: "job" | "completion"): Promise<boolean> {
    const isCompletion = by === "completion";
    const rows = await sql(
      `insert into giftcard_cart_lease as held (cart_id, owner, until, gives_way)
         values ($1, $2, now() + ${sqlInterval("$3")}, $4)
       on conflict (cart_id) do update set owner = excluded.owner, until = excluded.until, gives_way = excluded.gives_way
         where held.until <= now() or ($5 and held.gives_way) returning cart_id`,
      [cartId, hold.owner, leaseMs, hold.givesWay && !isCompletion, isCompletion],
    ).catch((error: unknown) => {
      hold.isTaken = true;
      throw error;
    });
    if (rows.length === 0) return false;
    hold.isTaken = true;
    keepAlive(cartId, hold);
    return true;
  }

  function keepAlive(cartId: string, hold: Hold): void {
    const endsAt = Date.now() + LONGEST_HOLD_MS;
    const renew = async () => {
      const renewed = sql(
        `update giftcard_cart_lease set until = now() + ${sqlInterval("$3")} where cart_id = $1 and owner = $2 returning cart_id`,
        [cartId, hold.owner, leaseMs],
      ).catch(() => [{}]);
      // It had expired, and another process has it, or had it.
      if (Date.now() > endsAt || (await renewed).length === 0) forget(cartId, hold);
    };
    hold.heartbeat ??= setInterval(renew, leaseMs / 3).unref();
  }

  /** Changes whether the lease gives way, and renews it. @returns false if this hold has lost it */
  async function changeWay(cartId: string, hold: Hold, givesWay: boolean): Promise<boolean> {
    const rows = await sql(
      `update giftcard_cart_lease set gives_way = $3, until = now() + ${sqlInterval("$4")}
       where cart_id = $1 and owner = $2 returning cart_id`,
      [cartId, hold.owner, givesWay, leaseMs],
    );
    if (rows.length === 0) forget(cartId, hold);
    return rows.length === 1;
  }

  /** Takes the turn once no other job has it. @throws {CheckoutError} payment_in_progress after `timeoutMs` */
  async function obtain(cartId: string, timeoutMs: number, givesWay: boolean): Promise<Hold> {
    const until = Date.now() + timeoutMs;
    for (let other = holds.get(cartId); other; other = holds.get(cartId)) {
      if (!(await endsBefore(other, until))) throw new CheckoutError("payment_in_progress");
    }
    const mine = begin(cartId, givesWay);
    try {
      for (;;) {
        if (await tryFor(cartId, mine, "job")) return mine;
        if (Date.now() >= until) throw new CheckoutError("payment_in_progress");
        await sleep(POLL_MS);
      }
    } catch (error) {
      await leave(cartId, mine);
      throw error;
    }
  }

  /** Adds a completion to a turn. @returns null if `takes` doesn't take it */
  async function addCompletion(cartId: string, hold: Hold, takes: () => Promise<boolean>): Promise<Release | null> {
    hold.hasCompletion = true;
    let isIn = false;
    try {
      isIn = await takes();
    } finally {
      if (!isIn) await removeCompletion(cartId, hold);
    }
    return isIn ? onlyOnce(() => removeCompletion(cartId, hold)) : null;
  }

  async function removeCompletion(cartId: string, hold: Hold): Promise<void> {
    // Its job may still wait for Medusa's lock, which another completion may get before it.
    if (hold.givesWay && hold.holders > 1 && !hold.isOver) await changeWay(cartId, hold, true).catch(() => false);
    hold.hasCompletion = false;
    await leave(cartId, hold);
  }

  return {
    /** Tells whether a job of this process has the turn, or is taking it. */
    isHeld: (cartId: string): boolean => holds.has(cartId),
    /** Waits until the job of this process that has the turn, if any, has ended. */
    ended: async (cartId: string): Promise<void> => holds.get(cartId)?.ended,
    /**
     * Takes the turn if it is free; it gives way. @returns null if a job of this or another process has it, or waits
     * for it
     */
    async take(cartId: string): Promise<Release | null> {
      if (holds.has(cartId)) return null;
      const mine = begin(cartId, true);
      let isMine = false;
      try {
        isMine = await tryFor(cartId, mine, "job");
      } finally {
        if (!isMine) await leave(cartId, mine);
      }
      return isMine ? onlyOnce(() => leave(cartId, mine)) : null;
    },
    /**
     * Takes the turn once it is free, after the jobs of this process that already wait.
     * @param options.givesWay for a job that will take Medusa's lock on the cart
     * @throws {CheckoutError} payment_in_progress after `timeoutMs`
     */
    async wait(cartId: string, timeoutMs: number, { givesWay = false } = {}): Promise<Turn> {
      const mine = await obtain(cartId, timeoutMs, givesWay);
      return {
        release: onlyOnce(() => leave(cartId, mine)),
        async keep() {
          if (mine.isOver || mine.hasCompletion) return false;
          mine.givesWay = false;
          return changeWay(cartId, mine, false);
        },
        async giveWay() {
          mine.givesWay = true;
          await changeWay(cartId, mine, true).catch(() => false);
        },
      };
    },
    /**
     * Lets a completion, which has Medusa's lock on the cart, share the turn of a job of this process. The turn then
     * lasts until the completion has ended too.
     * @returns null if no job of this process has the turn, or it doesn't give way, or another completion shares it
     */
    async join(cartId: string): Promise<Release | null> {
      const other = holds.get(cartId);
      // Its last holder may be ending it at this moment.
      if (!other?.isTaken || other.holders === 0 || !other.givesWay || other.hasCompletion) return null;
      other.holders += 1;
      other.wasJoined = true;
      return addCompletion(cartId, other, () => changeWay(cartId, other, false));
    },
    /** Takes the turn for a completion, if it is free or its job gives way. @returns null if neither */
    async takeOver(cartId: string): Promise<Release | null> {
      // A job of this process that waits for another process's turn continues to wait: it may wait for this
      // completion's lock.
      const mine = holds.has(cartId) ? newHold(true) : begin(cartId, true);
      return addCompletion(cartId, mine, () => tryFor(cartId, mine, "completion"));
    },
    /** Tells whether a completion has joined the turn of a job of this process. */
    wasJoined: (cartId: string): boolean => holds.get(cartId)?.wasJoined === true,
  };
}

const endsBefore = (hold: Hold, until: number): Promise<boolean> =>
  Promise.race([hold.ended.then(() => true), sleep(Math.max(0, until - Date.now()), false, { ref: false })]);
