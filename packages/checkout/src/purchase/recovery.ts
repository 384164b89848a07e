import { retryDelayMs } from "../engine/charge-recovery.js";
import { type ChargeView, viewCharge } from "../engine/charge-view.js";
import type { Purchase, PurchaseChange } from "../store/purchase-store.js";
import { newOwner } from "./records.js";
import { faultCode } from "./remainder.js";
import { isReversing } from "./reversals.js";
import type { StepsContext } from "./steps.js";

interface RecoveryContext extends StepsContext {
  readonly confirm: (orderId: string) => Promise<unknown>;
}

/** The limits of one run of recovery. */
export interface RecoverOptions {
  /** The maximum number of purchases, and of charges. Default: all that are due. */
  readonly limit?: number;
  /** When it returns, even if a step is still running: its lease runs out, and a later call repeats it. Default: never. */
  readonly deadlineMs?: number;
  /** Ends it like the deadline. */
  readonly signal?: AbortSignal;
}

/** The purchases that recovery has settled or tried. */
export interface Recovered {
  purchases: Purchase[];
  charges: ChargeView[];
}

/** How long a purchase is waited for before the next one begins. */
const PATIENCE_MS = 250;
/** The same while more than eight are still waited for: their method doesn't respond, and must not delay the rest. */
const LEAST_PATIENCE_MS = 20;
const patience = (ms = PATIENCE_MS) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref?.());

/** @throws {TypeError} naming the invalid limit */
function checkLimits(limit = 1, deadlineMs = 1): void {
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new TypeError("recover: limit has to be a whole number above 0.");
  if (!Number.isSafeInteger(deadlineMs) || deadlineMs < 1)
    throw new TypeError("recover: deadlineMs has to be a whole number above 0.");
}

/** Settles purchases after crashes and failures, and as people decide. */
export function createPurchaseRecovery(options: RecoveryContext) {
  const { steps, engine, purchases, leaseMs, report, confirm } = options;

  /**
   * Settles what is due, the longest overdue first. A method that doesn't respond delays its own orders only, however many.
   *
   * @param recovered receives the settled purchases
   * @param waiting has the purchases whose step is still running, with the owners of their leases
   */
  async function recoverPurchases(
    limit = Number.POSITIVE_INFINITY,
    end: AbortSignal,
    recovered: Purchase[],
    waiting: Map<Purchase, string>,
  ): Promise<void> {
    const tried = new Set<string>();
    const running = new Set<Promise<void>>();
    const decideDue = async (due: Purchase, owner: string) => {
      const settled = await steps.decide(due, owner).catch((error: unknown) => {
        report(error);
        return due;
      });
      recovered.push(settled);
    };
    try {
      while (tried.size < limit && !end.aborted) {
        const owner = newOwner();
        const [due] = await purchases.claim({ owner, forMs: leaseMs }, 1);
        if (!due) return;
        const step = decideDue(due, owner).finally(() => {
          running.delete(step);
          waiting.delete(due);
        });
        running.add(step);
        waiting.set(due, owner);
        // If one comes up again, all others were tried.
        if (tried.has(due.orderId)) return;
        tried.add(due.orderId);
        await Promise.race([step, patience(running.size > 8 ? LEAST_PATIENCE_MS : PATIENCE_MS)]);
      }
    } finally {
      await Promise.all(running);
    }
  }

  /** Delays the next step of a purchase whose current step still runs, and keeps its lease. */
  async function delay({ orderId, attemptId, state, tries }: Purchase, owner: string): Promise<void> {
    const retry = { retryInMs: retryDelayMs(tries), lastError: "recover:deadline" };
    await purchases.change(orderId, { from: [state], to: state, attemptId, owner, ...retry });
  }

  /** Recovers charges and purchases. If one fails, the other still runs. */
  async function recover({ limit, deadlineMs, signal }: RecoverOptions = {}): Promise<Recovered> {
    checkLimits(limit, deadlineMs);
    const ending = new AbortController();
    const end = ending.signal;
    const abort = () => ending.abort();
    const timer = deadlineMs === undefined ? undefined : setTimeout(abort, deadlineMs);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    const ended = new Promise<void>((resolve) => {
      if (end.aborted) resolve();
      end.addEventListener("abort", () => resolve());
    });
    const recovered: Recovered = { purchases: [], charges: [] };
    const waiting = new Map<Purchase, string>();
    const recoverAll = async () => {
      const charges = engine.recover({ orderOf: steps.orderOf, limit, signal: end }).then((all) => {
        recovered.charges = all.map(viewCharge);
      });
      // A slow issuer doesn't delay orders whose remainder is paid.
      await Promise.race([Promise.allSettled([charges]), patience()]);
      const [first, second] = await Promise.allSettled([
        charges,
        recoverPurchases(limit, end, recovered.purchases, waiting),
      ]);
      if (first.status === "rejected") throw first.reason;
      if (second.status === "rejected") throw second.reason;
    };
    try {
      const all = recoverAll();
      await Promise.race([all, ended]);
      // The process may end now. Otherwise, what has hung in this run would be the first again in the next one.
      if (end.aborted) {
        all.catch(report);
        for (const [due, owner] of waiting) await delay(due, owner).catch(report);
      }
      return { purchases: [...recovered.purchases], charges: recovered.charges };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  async function retry(orderId: string, actor: string): Promise<Purchase | null> {
    const lastActor = actor;
    const stillPending = { from: ["pending"], to: "pending" } as const;
    const pending = await steps.change(orderId, { ...stillPending, lastActor });
    if (pending) {
      await confirm(orderId).catch(async (error: unknown) => {
        report(error);
        await steps.change(orderId, { ...stillPending, lastError: faultCode("status", error) });
      });
      return steps.reread(pending);
    }
    return decideNow(orderId, { lastActor });
  }

  /** Records a person's wish, and takes the next step of the purchase. Returns null if it is held or settled. */
  async function decideNow(orderId: string, wish: Pick<PurchaseChange, "lastActor" | "remainderSettledBy">) {
    const held = await steps.claim(orderId);
    if (!held) return null;
    const { owner, purchase } = held;
    const own = { from: [purchase.state], to: purchase.state, owner } as const;
    // Until the remainder is being returned, the shopper may still pay it.
    const isLeft = wish.remainderSettledBy && !isReversing(purchase) && purchase.state !== "refunding";
    const recorded = await purchases.change(orderId, isLeft ? { ...own, lease: null } : { ...own, ...wish });
    return isLeft ? null : recorded && steps.decide(recorded, owner);
  }

  const settleRemainder = (orderId: string, actor: string): Promise<Purchase | null> =>
    decideNow(orderId, { lastActor: actor, remainderSettledBy: actor });

  return { recover, byHand: { retryPurchase: retry, markRemainderSettled: settleRemainder } };
}
