import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError, type RunSql, sqlInterval } from "@giftcard-pay/checkout";

/** Ends this job's part of a turn. Never throws; called again it does nothing. */
export type Release = () => Promise<void>;

/** A turn that gives way to a completion for as long as its job has not Medusa's lock on the cart. */
export interface Turn {
  readonly release: Release;
  /** Once the job has Medusa's lock. @returns false where a completion has taken the turn */
  keep(): Promise<boolean>;
  /** Once the job has ended Medusa's lock and still has the turn. */
  giveWay(): Promise<void>;
}

interface Hold {
  readonly owner: string;
  holders: number;
  /** False while the lease in the database is another process's. */
  isTaken: boolean;
  /** Whether a completion may come in between. */
  readonly givesWay: boolean;
  wasJoined: boolean;
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
   * @returns null where no job of this process has the turn, or it doesn't give way
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
  return { owner: randomUUID(), holders: 1, isTaken: false, givesWay, wasJoined: false, ended, end };
}

/**
 * Turns, as leases in Medusa's database by its clock. They are renewed while their process lives, and run out when it
 * dies or stands still. The journal guards the money; these keep two jobs from undoing each other's work.
 */
export function createCartLeases(run: RunSql, leaseMs: number): CartLeases {
  const holds = new Map<string, Hold>();

  function begin(cartId: string, givesWay: boolean): Hold {
    const hold = newHold(givesWay);
    holds.set(cartId, hold);
    return hold;
  }

  function forget(cartId: string, hold: Hold): void {
    clearInterval(hold.heartbeat);
    if (holds.get(cartId) === hold) holds.delete(cartId);
    hold.end();
  }

  /** A job that didn't get the turn. */
  function leave(cartId: string, hold: Hold): void {
    hold.holders -= 1;
    if (hold.holders === 0) forget(cartId, hold);
  }

  /**
   * @param by who comes: a job, or a completion, to which others give way
   * @returns what ends the turn; null where another process has it
   */
  async function tryFor(cartId: string, hold: Hold, by: "job" | "completion"): Promise<Release | null> {
    const isCompletion = by === "completion";
    try {
      const rows = await run(
        `insert into giftcard_cart_lease as held (cart_id, owner, until, gives_way)
           values ($1, $2, now() + ${sqlInterval("$3")}, $4)
         on conflict (cart_id) do update set owner = excluded.owner, until = excluded.until, gives_way = excluded.gives_way
           where held.until <= now() or ($5 and held.gives_way) returning cart_id`,
        [cartId, hold.owner, leaseMs, hold.givesWay && !isCompletion, isCompletion],
      );
      return rows.length === 1 ? enter(cartId, hold) : null;
    } catch (error) {
      leave(cartId, hold);
      throw error;
    }
  }

  /** @returns whether the lease is still this hold's */
  async function changeWay(cartId: string, hold: Hold, givesWay: boolean): Promise<boolean> {
    const statement =
      "update giftcard_cart_lease set gives_way = $3 where cart_id = $1 and owner = $2 returning cart_id";
    if ((await run(statement, [cartId, hold.owner, givesWay])).length === 1) return true;
    forget(cartId, hold);
    return false;
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
    hold.heartbeat ??= setInterval(renew, leaseMs / 3).unref();
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

  /** Takes the turn once no other job has it. @throws {CheckoutError} payment_in_progress after `timeoutMs` */
  async function obtain(cartId: string, timeoutMs: number, givesWay: boolean): Promise<[Hold, Release]> {
    const until = Date.now() + timeoutMs;
    for (let other = holds.get(cartId); other; other = holds.get(cartId)) {
      if (!(await endsBefore(other, until))) throw new CheckoutError("payment_in_progress");
    }
    const mine = begin(cartId, givesWay);
    for (;;) {
      const release = await tryFor(cartId, mine, "job");
      if (release) return [mine, release];
      // A completion of this process has taken it meanwhile.
      if (mine.isTaken) return [mine, releaseOf(cartId, mine)];
      if (Date.now() >= until) {
        leave(cartId, mine);
        throw new CheckoutError("payment_in_progress");
      }
      await sleep(POLL_MS);
    }
  }

  return {
    isHeld: (cartId) => holds.has(cartId),
    async take(cartId) {
      if (holds.has(cartId)) return null;
      const mine = begin(cartId, true);
      const release = await tryFor(cartId, mine, "job");
      if (!release) leave(cartId, mine);
      return release;
    },
    wait: async (cartId, timeoutMs) => (await obtain(cartId, timeoutMs, false))[1],
    async waitGivingWay(cartId, timeoutMs) {
      const [mine, release] = await obtain(cartId, timeoutMs, true);
      return {
        release,
        keep: () => changeWay(cartId, mine, false),
        giveWay: async () => void (await changeWay(cartId, mine, true)),
      };
    },
    async join(cartId) {
      const other = holds.get(cartId);
      // Its last holder may be ending it this moment.
      if (!other?.isTaken || !other.givesWay || other.holders === 0) return null;
      other.holders += 1;
      other.wasJoined = true;
      const release = releaseOf(cartId, other);
      return (await changeWay(cartId, other, false)) ? release : null;
    },
    async takeOver(cartId) {
      // A job of this process that waits for the turn has it from now on too, and waits for Medusa's lock.
      const waiting = holds.get(cartId);
      if (waiting && (waiting.isTaken || !waiting.givesWay)) return null;
      const mine = waiting ?? begin(cartId, true);
      if (waiting) waiting.holders += 1;
      const release = await tryFor(cartId, mine, "completion");
      if (!release) leave(cartId, mine);
      return release;
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
