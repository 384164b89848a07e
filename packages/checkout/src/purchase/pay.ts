import { randomUUID } from "node:crypto";
import { layCharges } from "../engine/charge-layout.js";
import type { PaymentPlan } from "../engine/engine.js";
import { CheckoutError, noSuchOrder } from "../engine/errors.js";
import type { Charge } from "../store/charge.js";
import { type Purchase, paidStates, undecidedStates } from "../store/purchase-store.js";
import { groupByPayment } from "./card-payments.js";
import type { PurchaseContext } from "./context.js";
import { checkCart, checkLines, type Order } from "./order.js";
import type { AuthorizeRemainder } from "./remainder.js";
import type { PurchaseSteps } from "./steps.js";

/** What has become of an order's payment. Amounts in cents. */
export interface PayResult {
  /**
   * `paid`: cards and remainder. `pending`: the cards are charged, the remainder isn't paid yet; see `confirm`.
   * `declined`: nothing is taken, or what was taken goes back by itself.
   */
  readonly status: "paid" | "pending" | "declined";
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: number }[];
  readonly remainderCents: number;
  /** What the remainder's method gave with `pending`. */
  readonly remainderData?: unknown;
}

interface FlowOptions extends PurchaseContext {
  readonly steps: PurchaseSteps;
  readonly pendingLifeMs: number;
  /** How a card's part is charged: as one, or by the order's lines. Where it isn't said, by the lines of orders that have any. */
  readonly charges: "whole" | "by-line" | undefined;
  readonly maxChargesPerCard: number;
}

/** Paying an order: at once, or when the shopper comes back. */
export function createPurchaseFlow(options: FlowOptions) {
  const { steps, engine, journal, purchases, remainder, leaseMs, pendingLifeMs, report } = options;

  async function toResult(purchase: Purchase, status: PayResult["status"]): Promise<PayResult> {
    const { remainderCents, remainderData } = purchase;
    const charges = status === "declined" ? [] : (await steps.chargesOf(purchase)).reverse();
    const cards = groupByPayment(charges).map(({ lastFour, amountCents }) => ({ lastFour, amountCents }));
    const result = { status, cards, remainderCents };
    return remainderData === null ? result : { ...result, remainderData: JSON.parse(remainderData) };
  }

  /** What a purchase answers as it stands. */
  function answerOf(purchase: Purchase): Promise<PayResult> {
    const { state } = purchase;
    if (paidStates.includes(state)) return toResult(purchase, "paid");
    if (state === "pending") return toResult(purchase, state);
    if (state === "voiding" || state === "failed") return toResult(purchase, "declined");
    throw new CheckoutError(state === "charging" ? "payment_in_progress" : "cart_completed");
  }

  /** What a purchase answers to a commit that comes second: only if it is of the same cart, total and remainder. */
  function answerAgain(order: Order, purchase: Purchase): Promise<PayResult> {
    const { cart, expectedRemainderCents = purchase.remainderCents } = order;
    const isSame =
      purchase.cartId === cart.id &&
      purchase.totalCents === cart.totalCents &&
      purchase.remainderCents === expectedRemainderCents;
    if (!isSame) throw new CheckoutError("amount_changed");
    if (purchase.state === "voiding") throw new CheckoutError("payment_in_progress");
    return answerOf(purchase);
  }

  /** How the order is to be paid now, if that is what the shopper was shown, and can be done. */
  async function planOf(order: Order, ask: AuthorizeRemainder | undefined): Promise<PaymentPlan> {
    await engine.settle(order.cart.id, { orderOf: steps.orderOf });
    const plan = await engine.plan(order.cart);
    // A card that pays nothing now makes a remainder that the shopper may not have seen.
    const isSurprise = plan.hasSettling || plan.hasExpired;
    const { expectedRemainderCents = isSurprise ? Number.NaN : plan.remainderCents } = order;
    engine.checkCovers(plan, expectedRemainderCents);
    // Without TypeScript it may be anything, such as the false of a condition that didn't hold.
    if (plan.remainderCents > 0 && !(typeof ask === "function" && remainder.isThere)) {
      throw new TypeError(
        "The cards don't cover the order: commit needs authorizeRemainder, and createCheckout remainder.",
      );
    }
    return plan;
  }

  /** Each card's part, over the lines that stand written where it is charged by line. */
  function partsOf({ parts }: PaymentPlan, { lines }: Purchase): PaymentPlan["parts"] {
    if (options.charges === "whole" || !lines) return parts;
    const partsCents = parts.map(({ amountCents }) => amountCents);
    const laid = layCharges(partsCents, lines, options.maxChargesPerCard);
    return parts.map((part, index) => ({ ...part, charges: laid[index] ?? [] }));
  }

  async function charge(order: Order, purchase: Purchase, plan: PaymentPlan): Promise<void> {
    const { attemptId } = purchase;
    const begun: Charge[] = [];
    for (const [index, part] of partsOf(plan, purchase).entries()) {
      begun.push(...(await engine.begin(order.cart, part, `${attemptId}:${index}`, attemptId, order.id)));
    }
    for (const [index, { reference }] of begun.entries()) {
      if (index > 0) await prolong(purchase);
      await engine.renew(attemptId);
      await engine.devalue(reference);
    }
    await prolong(purchase);
  }

  /** Before each slow step. Frozen for so long that recovery has taken the purchase over, a process asks for no more. */
  async function prolong({ orderId, attemptId }: Purchase): Promise<void> {
    const lease = { owner: attemptId, forMs: leaseMs };
    const own = { from: ["charging"], to: "charging", attemptId, owner: attemptId, lease } as const;
    if (!(await purchases.change(orderId, own))) throw new CheckoutError("payment_in_progress");
  }

  async function waitForRemainder(purchase: Purchase, data: unknown): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    // What isn't there has no text, whatever its type says.
    const remainderData: string | undefined = JSON.stringify(data);
    const wait = {
      from: ["charging"],
      to: "pending",
      attemptId,
      lease: null,
      retryInMs: pendingLifeMs,
    } as const;
    const pending = await steps.change(orderId, { ...wait, ...(remainderData && { remainderData }) });
    if (!pending) throw new CheckoutError("payment_in_progress");
    // So long recovery needn't look at the cards' part; it would find it to be the purchase's.
    await journal.renew(attemptId, pendingLifeMs).catch(report);
    return pending;
  }

  /** Ends what an earlier commit of this order left, if its process has died. */
  async function readSettled(orderId: string): Promise<Purchase | null> {
    const there = await purchases.read(orderId);
    if (there?.state !== "charging" && there?.state !== "voiding") return there;
    const held = await steps.claim(orderId);
    return held ? steps.decide(held.purchase, held.owner) : there;
  }

  async function pay(
    order: Order,
    { authorizeRemainder }: { authorizeRemainder?: AuthorizeRemainder } = {},
  ): Promise<PayResult> {
    if (typeof order.id !== "string" || order.id === "")
      throw new TypeError("order.id has to be a text that isn't empty.");
    const cart = checkCart(order.cart);
    const lines = checkLines(order.lines, cart.totalCents) ?? null;
    if (options.charges === "by-line" && !lines)
      throw new TypeError('order.lines are needed if charges is "by-line".');
    const there = await readSettled(order.id);
    if (there && there.state !== "failed") return answerAgain(order, there);
    const plan = await planOf(order, authorizeRemainder);
    const attemptId = randomUUID();
    const ids = { orderId: order.id, cartId: cart.id, attemptId };
    const wanted = { ...ids, totalCents: cart.totalCents, remainderCents: plan.remainderCents, lines };
    const purchase = await steps.begin(wanted, { owner: attemptId, forMs: leaseMs });
    if (purchase.attemptId !== attemptId) return answerAgain(order, purchase);
    let wasAsked = false;
    try {
      await charge(order, purchase, plan);
      if (purchase.remainderCents > 0) {
        wasAsked = true;
        const answer = await remainder.authorize(authorizeRemainder, purchase);
        if (answer.status === "declined") {
          const now = await steps.voidPurchase(purchase, "remainder_declined");
          // Frozen for so long that the order was given up and paid anew, perhaps of another cart.
          return await (now.attemptId === attemptId ? answerOf(now) : answerAgain(order, now));
        }
        if (answer.status === "pending") return await answerOf(await waitForRemainder(purchase, answer.data));
      }
      const paid = await steps.complete(purchase);
      if (!paidStates.includes(paid.state) || paid.attemptId !== attemptId)
        throw new CheckoutError("payment_in_progress");
      return await answerOf(paid);
    } catch (error) {
      const now = await giveUp(purchase, wasAsked);
      if (now && paidStates.includes(now.state) && now.attemptId === attemptId) return answerOf(now);
      throw error;
    }
  }

  /** Voids a commit that failed, as far as that can be done now; recovery does the rest. */
  async function giveUp(purchase: Purchase, wasAsked: boolean): Promise<Purchase | null> {
    try {
      const now = await steps.voidPurchase(purchase, "completion_failed", { isLate: wasAsked });
      if (now.attemptId === purchase.attemptId && paidStates.includes(now.state)) return now;
      // Voided by somebody else, who may not have seen the last card that was charged here.
      const isHeld = (await steps.chargesOf(purchase)).some((charge) => charge.state === "devalued");
      if (isHeld) await steps.reverseCards(purchase, "completion_failed");
      // A new commit has begun meanwhile, and nothing of this one is written down any more.
      if (wasAsked && now.attemptId !== purchase.attemptId) await remainder.cancel(purchase);
      return now;
    } catch (error) {
      report(error);
      return null;
    }
  }

  async function confirm(orderId: string): Promise<PayResult> {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw noSuchOrder();
    const isGivenUp = purchase.state === "failed" && purchase.remainderCents > 0;
    if (purchase.state !== "pending" && !isGivenUp) return answerOf(purchase);
    const status = await remainder.status(purchase);
    if (status === "pending") return answerOf(purchase);
    if (status === "declined") return answerOf(await steps.voidPurchase(purchase, "remainder_declined"));
    let now: Purchase;
    try {
      now = await steps.complete(purchase);
    } catch (error) {
      // A store that fails decides nothing: it is asked again, by the shop or by recovery.
      if (error instanceof CheckoutError)
        await steps.voidPurchase(purchase, "completion_failed").catch(report);
      throw error;
    }
    // Paid after it was given up: that goes back too.
    const isPaid = paidStates.includes(now.state);
    return answerOf(isPaid ? now : await steps.voidPurchase(purchase, "remainder_lapsed", { isLate: true }));
  }

  async function assertPaid(orderId: string, totalCents: number): Promise<Purchase> {
    const purchase = await purchases.read(orderId);
    const { state } = purchase ?? {};
    if (purchase && purchase.totalCents === totalCents) {
      if (undecidedStates.includes(purchase.state)) throw new CheckoutError("payment_in_progress");
      // One card alone may have been reversed since; the purchase stays paid then.
      if (state === "paid" && (await steps.heldCents(purchase)) === totalCents) return purchase;
    }
    throw new CheckoutError("amount_changed");
  }

  return { pay, confirm, assertPaid };
}
