import { randomUUID } from "node:crypto";
import { type AttemptView, viewAttempt } from "./attempt-view.js";
import { createEngine } from "./create-engine.js";
import type { CartView, Engine, EngineOptions } from "./engine.js";
import { CheckoutError } from "./errors.js";
import type { Attempt } from "./journal.js";
import { createOperator, type Operator } from "./operator.js";
import type { CheckoutStore } from "./postgres-store.js";
import type { Purchase, PurchaseState } from "./purchase-book.js";
import { createSealer, type SealingKey } from "./seal.js";

/** What the shop's own payment method says of the remainder. */
export type RemainderAnswer =
  | { readonly status: "authorized" }
  | { readonly status: "declined" }
  /** The shopper pays it elsewhere, such as on a bank's page; `data` is what the page needs for that. */
  | { readonly status: "pending"; readonly data?: Readonly<Record<string, unknown>> };

/** The remainder of an order, as the shop's own payment method is asked for it. */
export interface RemainderRequest {
  readonly orderId: string;
  readonly remainderCents: number;
  /** Unique to this try: use it as the payment's idempotency key. */
  readonly runId: string;
}

/**
 * The shop's own payment method. `status` and `cancel` are also called after a crash, when nobody knows whether the
 * payment was ever asked for: `status` then answers "declined", and `cancel` makes sure that a request of this `runId`
 * that is still on its way takes nothing, where the method can do that.
 */
export interface RemainderMethod {
  /** What has become of the payment. Throws when it can't be asked now. */
  status(request: RemainderRequest): Promise<"authorized" | "declined" | "pending">;
  /** Gives back whatever was authorized or captured, once. Throws when it can't be done now: it is tried again. */
  cancel(request: RemainderRequest): Promise<void>;
}

/** What a shop gives to its checkout: where the money flow is written down, its keys, its remainder, its limits. */
export interface CheckoutOptions
  extends Pick<
    EngineOptions,
    | "client"
    | "environment"
    | "maxCards"
    | "tenderLifeMs"
    | "quoteLifeMs"
    | "guessLimits"
    | "onChange"
    | "onTender"
  > {
  readonly store: CheckoutStore;
  /** The newest first. */
  readonly sealingKeys: readonly SealingKey[];
  /** Needed where orders can have a remainder. */
  readonly remainder?: RemainderMethod;
  /** How long a pending remainder may take before the cards are given back. Default 30 minutes. */
  readonly pendingLifeMs?: number;
  /** How long a commit owns its purchase between two of its steps; longer than a step takes. Default two minutes. */
  readonly leaseMs?: number;
}

/** An order to be paid. Its id is the shop's, made before. */
export interface Order {
  readonly id: string;
  readonly cart: CartView;
  /** The remainder that the shopper was shown; another one is refused before anything moves. */
  readonly expectedRemainderCents?: number;
}

/** What has become of an order's payment. Amounts in cents. */
export interface CommitResult {
  /**
   * `paid`: cards and remainder. `pending`: the cards are charged, the remainder isn't paid yet; see `confirm`.
   * `declined`: nothing is taken.
   */
  readonly status: "paid" | "pending" | "declined";
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: number }[];
  readonly remainderCents: number;
  /** What the remainder's method gave with `pending`. */
  readonly remainderData?: unknown;
}

/** The money flow of any shop. Refusals are CheckoutErrors; after each, nothing is taken, or it is owed and goes back. */
export interface Checkout
  extends Pick<Engine, "environment" | "balance" | "quote" | "apply" | "remove">,
    Operator {
  /** The cart as the gift cards see it. */
  list(cart: CartView): ReturnType<Engine["summary"]>;
  /**
   * Pays an order: the cards first, then the remainder, then both belong to the order. Whatever fails, the cards go back.
   * Twice for one order is one purchase; after a failure or a crash it may be called again.
   *
   * @param options.authorizeRemainder asks the shop's own method; needed where the cards don't cover the total
   * @throws {CheckoutError} what a card or the service refuses; amount_changed; payment_in_progress
   */
  commit(
    order: Order,
    options?: { authorizeRemainder?: (request: RemainderRequest) => Promise<RemainderAnswer> },
  ): Promise<CommitResult>;
  /** Asks what became of a pending remainder, and ends the purchase by it. Call it when the shopper comes back. */
  confirm(orderId: string): Promise<CommitResult>;
  /**
   * Gives everything of a cancelled order back: the cards' part, and the remainder by its method's `cancel`. It is written
   * down first; what can't be given back now is given back by `recover`. Done twice it is done once.
   */
  reverse(orderId: string): Promise<AttemptView[]>;
  /**
   * Gives the cards' part back, and leaves the remainder as it is: of all cards, or of one, by its attempt's reference, as
   * a whole.
   */
  refund(orderId: string, reference?: string): Promise<AttemptView[]>;
  /** What stands written of an order's payment, or null. */
  read(orderId: string): Promise<Purchase | null>;
  /** Ends what crashes, lost answers and closed tabs left. Call it each minute, from as many processes as you like. */
  recover(): Promise<{ purchases: Purchase[]; attempts: AttemptView[] }>;
}

const MINUTE_MS = 60_000;
const unpaidStates: readonly PurchaseState[] = ["charging", "pending", "undoing", "failed"];
/** From these an order that was paid is cancelled. */
const givenBackStates: readonly PurchaseState[] = ["paid", "refunding", "refunded"];
const reasons = { reversing: "order_canceled", refunding: "refunded" } as const;

/**
 * Makes the money flow of a shop on any server.
 *
 * @throws {TypeError} naming the option that is wrong
 */
export function createCheckout(options: CheckoutOptions): Checkout {
  const { store, sealingKeys, remainder, leaseMs = 2 * MINUTE_MS, pendingLifeMs = 30 * MINUTE_MS } = options;
  const { journal, purchases } = store;
  const { store: _store, sealingKeys: _keys, remainder: _remainder, pendingLifeMs: _life, ...rest } = options;
  const sealer = createSealer({ keys: sealingKeys });
  // Attempts are held longer than their purchase, so that the purchase as a whole is decided before any of them is.
  const engine = createEngine({ ...rest, journal, sealer, leaseMs: 2 * leaseMs });

  const attemptsOf = async ({ cartId, runId }: Purchase): Promise<Attempt[]> =>
    (await journal.attemptsOfCart(cartId)).filter((a) => a.externalId.startsWith(`${runId}:`));

  async function toResult(purchase: Purchase, status: CommitResult["status"]): Promise<CommitResult> {
    const { remainderCents, remainderData } = purchase;
    const attempts = status === "declined" ? [] : (await attemptsOf(purchase)).reverse();
    const cards = attempts.map(({ lastFour, amountCents }) => ({ lastFour, amountCents }));
    const result = { status, cards, remainderCents };
    return remainderData === null ? result : { ...result, remainderData: JSON.parse(remainderData) };
  }

  /** Gives everything back, durably: what can't be given back now stays `undoing`, and recovery goes on with it. */
  async function undo(purchase: Purchase, reason: string): Promise<Purchase> {
    const { orderId, runId } = purchase;
    const owed = await purchases.change(orderId, {
      from: ["charging", "pending", "undoing"],
      to: "undoing",
      runId,
      leaseMs,
    });
    if (!owed) return disown(purchase);
    for (const { reference } of await attemptsOf(purchase)) await engine.reverse(reference, reason);
    if (!(await cancelRemainder(owed))) return owed;
    return (
      (await purchases.change(orderId, { from: ["undoing"], to: "failed", runId, leaseMs: null })) ?? owed
    );
  }

  /** Whether the remainder went back; where it can't go now, recovery tries again. */
  async function cancelRemainder({ orderId, runId, remainderCents, state }: Purchase): Promise<boolean> {
    if (remainderCents === 0) return true;
    try {
      if (!remainder) throw new TypeError("The order has a remainder: createCheckout needs remainder.");
      await remainder.cancel({ orderId, remainderCents, runId });
      return true;
    } catch {
      await purchases.change(orderId, { from: [state], to: state, runId, leaseMs: MINUTE_MS });
      return false;
    }
  }

  /** A run that was overtaken may have asked for a remainder that nobody else knows of; the purchase isn't its own. */
  async function disown(purchase: Purchase): Promise<Purchase> {
    const { orderId, runId, remainderCents } = purchase;
    const now = (await purchases.read(orderId)) ?? purchase;
    const isSettled = now.runId === runId && now.state !== "failed";
    if (!isSettled && remainderCents > 0) await remainder?.cancel({ orderId, remainderCents, runId });
    return now;
  }

  /** Gives charged cards to the order. Where recovery was faster with one of them, everything goes back. */
  async function finish(purchase: Purchase): Promise<CommitResult> {
    const { orderId, runId, totalCents, remainderCents } = purchase;
    try {
      const attempts = await attemptsOf(purchase);
      const held = attempts.filter((a) => ["devalued", "committed", "captured"].includes(a.state));
      const paidCents = held.reduce((sum, a) => sum + a.amountCents, remainderCents);
      if (paidCents !== totalCents) throw new CheckoutError("payment_in_progress");
      for (const { reference } of attempts) await engine.commit(reference, runId, orderId);
      const paid = await purchases.change(orderId, {
        from: ["charging", "pending"],
        to: "paid",
        runId,
        leaseMs: null,
      });
      const now = paid ?? (await purchases.read(orderId));
      // Done by two at once, it is done.
      if (now?.state === "paid" && now.runId === runId) return toResult(now, "paid");
      throw new CheckoutError("payment_in_progress");
    } catch (error) {
      await undo(purchase, "completion_failed");
      throw error;
    }
  }

  async function charge(
    order: Order,
    purchase: Purchase,
    plan: Awaited<ReturnType<Engine["plan"]>>,
  ): Promise<void> {
    const begun: Attempt[] = [];
    const { runId } = purchase;
    for (const [index, part] of plan.parts.entries()) {
      begun.push(await engine.begin(order.cart, part, `${runId}:${index}`, runId, order.id));
    }
    for (const { reference } of begun) {
      await engine.renew(runId);
      await engine.devalue(reference);
    }
    await engine.renew(runId);
    // A process that was frozen for so long that recovery has taken the purchase over asks for no remainder.
    const own = await purchases.change(order.id, { from: ["charging"], to: "charging", runId, leaseMs });
    if (!own) throw new CheckoutError("payment_in_progress");
  }

  async function commit(order: Order, { authorizeRemainder }: Parameters<Checkout["commit"]>[1] = {}) {
    for (const stale of await purchases.claim(leaseMs, 1, order.id)) await decide(stale);
    await engine.settle(order.cart.id);
    const runId = randomUUID();
    const plan = await engine.plan(order.cart);
    const known = await purchases.read(order.id);
    if (!known || known.state === "failed") {
      // A card that pays nothing now makes a remainder that the shopper may not have seen.
      const isSurprise = plan.hasSettling || plan.hasExpired;
      engine.checkCovers(
        plan,
        order.expectedRemainderCents ?? (isSurprise ? Number.NaN : plan.remainderCents),
      );
      if (plan.remainderCents > 0 && !(authorizeRemainder && remainder)) {
        throw new TypeError(
          "The cards don't cover the order: commit needs authorizeRemainder, and createCheckout remainder.",
        );
      }
    }
    const { totalCents } = order.cart;
    const wanted = {
      orderId: order.id,
      cartId: order.cart.id,
      runId,
      totalCents,
      remainderCents: plan.remainderCents,
    };
    const purchase = await purchases.begin(wanted, leaseMs);
    if (purchase.runId !== runId) return answerOf(purchase);
    try {
      await charge(order, purchase, plan);
      const { remainderCents } = purchase;
      const answer =
        remainderCents > 0 && authorizeRemainder
          ? await authorizeRemainder({ orderId: order.id, remainderCents, runId })
          : ({ status: "authorized" } as const);
      if (answer.status === "pending") return await waitForRemainder(purchase, answer.data);
      if (answer.status === "declined")
        return toResult(await undo(purchase, "remainder_declined"), "declined");
    } catch (error) {
      await undo(purchase, "completion_failed");
      throw error;
    }
    return finish(purchase);
  }

  /** What a purchase answers to those who come second. */
  function answerOf(purchase: Purchase): Promise<CommitResult> {
    if (purchase.state === "paid") return toResult(purchase, "paid");
    if (purchase.state === "pending") return toResult(purchase, "pending");
    const isUnderWay = unpaidStates.includes(purchase.state);
    throw new CheckoutError(isUnderWay ? "payment_in_progress" : "cart_completed");
  }

  async function waitForRemainder(purchase: Purchase, data: unknown): Promise<CommitResult> {
    const { orderId, runId } = purchase;
    // The attempts are held a little longer than the purchase, so that its lapse is decided here, and not by theirs.
    await journal.renew(runId, pendingLifeMs + 2 * leaseMs);
    const change = { from: ["charging"], to: "pending", runId, leaseMs: pendingLifeMs } as const;
    const remainderData = data === undefined ? {} : { remainderData: JSON.stringify(data) };
    const pending = await purchases.change(orderId, { ...change, ...remainderData });
    if (!pending) throw new CheckoutError("payment_in_progress");
    return toResult(pending, "pending");
  }

  /** Ends a purchase that this process holds, by what became of its remainder. */
  async function decide(purchase: Purchase): Promise<Purchase> {
    const { orderId, runId, remainderCents, state } = purchase;
    if (state === "undoing") return undo(purchase, "completion_failed");
    if (state === "reversing" || state === "refunding") {
      await payBack(purchase);
      return (await purchases.read(orderId)) ?? purchase;
    }
    const attempts = await attemptsOf(purchase);
    // Without a remainder, what tells is whether the commit had got as far as giving a card to its order.
    const isCommitted = attempts.some((a) => a.state === "committed" || a.state === "captured");
    let status: string = isCommitted ? "authorized" : "declined";
    if (remainderCents > 0) {
      status =
        (await remainder?.status({ orderId, remainderCents, runId }).catch(() => "unreachable")) ??
        "declined";
    }
    if (status === "unreachable") {
      // The cards are decided with their purchase, however long that takes.
      await journal.renew(runId, MINUTE_MS + 2 * leaseMs);
      const later = { from: [state], to: state, runId, leaseMs: MINUTE_MS } as const;
      return (await purchases.change(orderId, later)) ?? purchase;
    }
    if (status !== "authorized")
      return undo(purchase, state === "pending" ? "remainder_lapsed" : "never_ordered");
    await finish(purchase).catch((error: unknown) => {
      if (!(error instanceof CheckoutError)) throw error;
    });
    return (await purchases.read(orderId)) ?? purchase;
  }

  async function confirm(orderId: string): Promise<CommitResult> {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw new CheckoutError("cart_not_found");
    if (purchase.state === "failed" || purchase.state === "undoing") return toResult(purchase, "declined");
    if (purchase.state !== "pending") return answerOf(purchase);
    const { runId, remainderCents } = purchase;
    const status = await remainder?.status({ orderId, remainderCents, runId });
    if (status === "pending") return toResult(purchase, "pending");
    if (status !== "authorized") return toResult(await undo(purchase, "remainder_declined"), "declined");
    return finish(purchase);
  }

  /** Gives back what an order was paid with, or what was taken for one that wasn't paid. */
  async function giveBack(orderId: string, to: "reversing" | "refunding"): Promise<Attempt[]> {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw new CheckoutError("cart_not_found");
    // Paid at this very moment by another process, it is given back as what it is.
    const isUnpaid = unpaidStates.includes(purchase.state);
    if (isUnpaid && unpaidStates.includes((await undo(purchase, reasons[to])).state)) {
      return attemptsOf(purchase);
    }
    // Owed as a whole before any part is tried, so that a crash in between leaves none behind.
    const from = to === "reversing" ? givenBackStates : (["paid"] as const);
    const owed = await purchases.change(orderId, { from, to, leaseMs });
    return payBack(owed ?? (await purchases.read(orderId)) ?? purchase);
  }

  async function payBack(purchase: Purchase): Promise<Attempt[]> {
    const { orderId } = purchase;
    const from = purchase.state === "reversing" ? "reversing" : "refunding";
    const reversed: Attempt[] = [];
    for (const { reference } of await attemptsOf(purchase)) {
      reversed.push(await engine.reverse(reference, reasons[from]));
    }
    if (from === "refunding" || (await cancelRemainder(purchase))) {
      const to = from === "reversing" ? "reversed" : "refunded";
      await purchases.change(orderId, { from: [from], to, leaseMs: null });
    }
    return reversed;
  }

  async function refund(orderId: string, reference?: string): Promise<Attempt[]> {
    const purchase = await purchases.read(orderId);
    if (reference === undefined || !purchase || unpaidStates.includes(purchase.state)) {
      return giveBack(orderId, "refunding");
    }
    const attempt = (await attemptsOf(purchase)).find((a) => a.reference === reference);
    if (!attempt) throw new CheckoutError("applied_card_not_found");
    return [await engine.reverse(reference, reasons.refunding)];
  }

  async function recover(): ReturnType<Checkout["recover"]> {
    const decided: Purchase[] = [];
    for (;;) {
      const [stale] = await purchases.claim(leaseMs, 1);
      if (!stale) break;
      decided.push(await decide(stale));
    }
    const attempts = await engine.recover();
    return { purchases: decided, attempts: attempts.map(viewAttempt) };
  }

  return {
    environment: engine.environment,
    balance: engine.balance,
    quote: engine.quote,
    apply: engine.apply,
    remove: engine.remove,
    list: engine.summary,
    commit,
    confirm,
    reverse: async (orderId) => (await giveBack(orderId, "reversing")).map(viewAttempt),
    refund: async (orderId, reference) => (await refund(orderId, reference)).map(viewAttempt),
    read: (orderId) => purchases.read(orderId),
    recover,
    ...createOperator({ engine, sealer, client: options.client }),
  };
}
