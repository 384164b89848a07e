import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError } from "@giftcard-pay/checkout";
import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";

/** Ends this job's part of a turn. Never throws; called again it does nothing. */
export type Release = () => Promise<void>;

/** A turn that gives way to a completion for as long as its job has not Medusa's lock on the cart. */
export interface Turn {
  readonly release: Release;
  /** Once the job has Medusa's lock. @returns false where a completion has taken the turn, or has it too */
  keep(): Promise<boolean>;
  /** Once the job has ended Medusa's lock and still has the turn, for its own completion. Never throws. */
  giveWay(): Promise<void>;
}

interface Hold {
  readonly owner: string;
  holders: number;
  /** False while the lease in the database is another process's. True also where the database's answer was lost. */
  isTaken: boolean;
  /** Whether a completion may come in between. */
  givesWay: boolean;
  /** A completion has it, or is taking it. */
  hasCompletion: boolean;
  wasJoined: boolean;
  isOver: boolean;
  heartbeat?: NodeJS.Timeout;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** So that nothing waits for ever for a job that never ends in a process that lives. */
const LONGEST_HOLD_MS = 10 * 60_000;
const POLL_MS = 100;

/**
 * Whose turn it is to work at a cart's cards and payment. One job has it, in all processes of the shop together.
 *
 * A completion has Medusa's lock on the cart before it comes for the turn; every other job has the turn first. So that
 * the two don't wait for each other, a job that is to wait for that lock gives way until it has it.
 */
export interface CartLeases {
  /** Takes the turn if it is free; it gives way. @returns null where a job of this or another process has it, or waits for it */
  take(cartId: string): Promise<Release | null>;
  /**
   * Takes the turn once it is free, after the jobs of this process that wait already.
   * @throws {CheckoutError} payment_in_progress after `timeoutMs`
   */
  wait(cartId: string, timeoutMs: number): Promise<Release>;
  /** As `wait`, for a job that is to take Medusa's lock on the cart. */
  waitGivingWay(cartId: string, timeoutMs: number): Promise<Turn>;
  /**
   * The turn for a completion, which has Medusa's lock on the cart: that of a job of this process, which then lasts until
   * the completion has ended too.
   * @returns null where no job of this process has the turn, or it doesn't give way, or another completion has it too
   */
  join(cartId: string): Promise<Release | null>;
  /** The turn for a completion, where it is free or its job gives way. @returns null where it is neither */
  takeOver(cartId: string): Promise<Release | null>;
  /** Whether a completion has joined the turn that a job of this process has. */
  wasJoined(cartId: string): boolean;
  /** Whether a job of this process has the turn, or is taking it. */
  isHeld(cartId: string): boolean;
}

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

/**
 * Turns, as leases in Medusa's database by its clock. They are renewed while their process lives, and run out when it
 * dies or stands still. The journal guards the money; these keep two jobs from undoing each other's work.
 */
export function createCartLeases(sql: Sql, leaseMs: number): CartLeases {
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

  /** Ends one holder's part, and with the last one's the lease. */
  async function leave(cartId: string, hold: Hold): Promise<void> {
    hold.holders -= 1;
    if (hold.holders > 0) return;
    clearInterval(hold.heartbeat);
    // Where this fails, it runs out.
    const statement = "delete from giftcard_cart_lease where cart_id = $1 and owner = $2";
    if (hold.isTaken) await sql(statement, [cartId, hold.owner]).catch(() => []);
    forget(cartId, hold);
  }

  /**
   * @param by who comes: a job, or a completion, to which others give way
   * @returns false where another process has it
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
      // Not there: it had run out, and another process has it, or had it.
      if (Date.now() > endsAt || (await renewed).length === 0) forget(cartId, hold);
    };
    hold.heartbeat ??= setInterval(renew, leaseMs / 3).unref();
  }

  /** @returns whether the lease is still this hold's; then it is renewed too */
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

  /** A completion's part of a turn. @returns null where `takes` doesn't take it */
  async function letIn(cartId: string, hold: Hold, takes: () => Promise<boolean>): Promise<Release | null> {
    hold.hasCompletion = true;
    let isIn = false;
    try {
      isIn = await takes();
    } finally {
      if (!isIn) await letOut(cartId, hold);
    }
    return isIn ? onlyOnce(() => letOut(cartId, hold)) : null;
  }

  async function letOut(cartId: string, hold: Hold): Promise<void> {
    // Its job may still wait for Medusa's lock, which another completion may get before it.
    if (hold.givesWay && hold.holders > 1 && !hold.isOver)
      await changeWay(cartId, hold, true).catch(() => false);
    hold.hasCompletion = false;
    await leave(cartId, hold);
  }

  return {
    isHeld: (cartId) => holds.has(cartId),
    async take(cartId) {
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
    async wait(cartId, timeoutMs) {
      const mine = await obtain(cartId, timeoutMs, false);
      return onlyOnce(() => leave(cartId, mine));
    },
    async waitGivingWay(cartId, timeoutMs) {
      const mine = await obtain(cartId, timeoutMs, true);
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
    async join(cartId) {
      const other = holds.get(cartId);
      // Its last holder may be ending it this moment.
      if (!other?.isTaken || other.holders === 0 || !other.givesWay || other.hasCompletion) return null;
      other.holders += 1;
      other.wasJoined = true;
      return letIn(cartId, other, () => changeWay(cartId, other, false));
    },
    async takeOver(cartId) {
      // A job of this process that waits for another one's turn goes on waiting: it may wait for this completion's lock.
      const mine = holds.has(cartId) ? newHold(true) : begin(cartId, true);
      return letIn(cartId, mine, () => tryFor(cartId, mine, "completion"));
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
