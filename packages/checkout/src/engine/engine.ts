import type { Cents } from "@giftcard-pay/client";
import type { Sealer } from "../sealing/seal.js";
import type { ActionRecord, Charge, ChargeState } from "../store/charge.js";
import type { Journal } from "../store/journal.js";
import type { Tender } from "../store/tender.js";
import type { ApplyRequest, CardBalance, CardEntry, CartSummary, Quote } from "../storefront.js";
import type { CardIssuer } from "./card-issuer.js";
import type { LaidCharge } from "./charge-layout.js";
import type { ChargeView } from "./charge-view.js";
import type { Guesser, GuessLimits } from "./guess-limits.js";
import type { OnFailure } from "./observers.js";

/** A cart as the shop has it at the time of the call. */
export interface CartView {
  readonly id: string;
  /** The total in cents, before gift cards. */
  readonly totalCents: Cents;
  /** The part of the total that no card may pay, in cents, such as gift cards in the cart. Default 0. */
  readonly notByCardCents?: Cents | undefined;
  /** ISO 4217, any case. */
  readonly currency: string;
  /** The shopper's IP address, for rate limits. Only its keyed hash is stored. */
  readonly address?: string | undefined;
}

/** The part of an order that one applied card pays. */
export interface PlannedPart {
  readonly tenderId: string;
  readonly lastFour: string;
  readonly amountCents: number;
  /** The card's number and PIN, encrypted for this cart. */
  readonly sealedCard: string;
  /** The charges that make up the part, in the order in which they are sent. Default: one charge. */
  readonly charges?: readonly LaidCharge[];
}

/** Options of `chargeAll`, which calls the functions around its steps. If one of them throws, nothing else is sent. */
export interface ChargeAllOptions {
  /** Owns the leases of the charges. */
  readonly owner: string;
  /** The order, if the shop knows it already; otherwise `commit` sets it. */
  readonly orderId?: string;
  /** The attempt of the purchase that the charges belong to, if there is one. */
  readonly attemptId?: string;
  /** Returns the shop's own id of a part's payment, right before its charges are recorded. Later calls find them by it. */
  readonly paymentOf: (index: number) => string | Promise<string>;
  /** Called once the charges of a payment are recorded. */
  readonly onBegun?: (charges: readonly Charge[]) => void;
  /** Called before each charge but the first is sent, and after the last one. */
  readonly onStep?: () => Promise<void>;
  /** Called once all charges of a payment are `devalued`. */
  readonly onCharged?: (charges: readonly [Charge, ...Charge[]]) => Promise<void>;
}

/** How an order is to be paid: the cards first, then the remainder. */
export interface PaymentPlan {
  /** Cards that pay something, oldest first. */
  readonly parts: readonly PlannedPart[];
  /** The `plan` of the cart's summary: its amounts as a page shows them. */
  readonly shown: string;
  readonly coveredCents: Cents;
  readonly remainderCents: Cents;
  /** True if an applied card has expired, so that it pays nothing. */
  readonly hasExpired: boolean;
  /** True if a card pays nothing because an earlier charge of it is not settled yet. */
  readonly hasSettling: boolean;
}

/** A card that was applied to a cart, or removed from it. */
export interface TenderChange {
  readonly event: "applied" | "removed";
  readonly cartId: string;
  readonly tenderId: string;
}

/** The dependencies of an engine, and its limits. */
export interface EngineOptions {
  /** Must have a company id. */
  readonly issuer: CardIssuer;
  /** Stored in each charge and shown to the shopper. Default: the issuer's; one of both is required. */
  readonly environment?: "live" | "sandbox";
  readonly journal: Journal;
  readonly sealer: Sealer;
  /** Cards per order. Default 5. */
  readonly maxCards?: number;
  /** The least remainder that other payment methods accept, in cents. Cards pay less rather than leave less. Default 0. */
  readonly leastRemainderCents?: number;
  /** How long after its quote a card can be charged. Default two hours. */
  readonly tenderLifeMs?: number;
  /** How long a quote can be applied. Default 15 minutes. */
  readonly quoteLifeMs?: number;
  /** How long a completion owns its charges unless it renews its lease. Longer than its timeouts together. Default two minutes. */
  readonly leaseMs?: number;
  /** How many wrong guesses of card number and PIN are allowed. */
  readonly guessLimits?: GuessLimits;
  /** Called after a card was applied to a cart or removed from it. The engine does not wait for it. */
  readonly onTender?: (change: TenderChange) => unknown;
  /**
   * Called after each change of a charge's state, for logs and events, without sealed values. The engine does not wait for it.
   */
  readonly onChange?: (charge: ChargeView) => unknown;
  /**
   * Called with failures that no caller waits for, and with those that only the shop can fix, such as a refused API key, each
   * code at most once a minute. Default: logs the failure's name and code to the console.
   */
  readonly onFailure?: OnFailure;
}

/** The facts for a person's decision about a charge, without sealed values. */
export interface Evidence {
  readonly charge: ChargeView;
  /** When the card was entered, and its balance read. */
  readonly balanceBeforeAt: Date | null;
  /** Earlier decisions about it, oldest first. */
  readonly actions: readonly Omit<ActionRecord, "reference">[];
  /** Of all carts, newest first. */
  readonly otherChargesOfCard: readonly ChargeView[];
}

/** The limits of one run of recovery. */
export interface RecoverOptions {
  /** The maximum number of charges in this run. Default: all that are due. */
  readonly limit?: number | undefined;
  /** Begins no other charge once it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called before recovery reverses a devalued charge whose completion crashed. If it returns the id of an order that was placed
   * and fully paid with the charge, the charge is committed to that order. null reverses it. `LEAVE` skips it, because
   * another part decides, such as the purchase that it belongs to. If it throws, recovery tries the charge again later.
   */
  readonly orderOf?: ((charge: Charge) => Promise<string | null | typeof LEAVE>) | undefined;
}

/** The result of `orderOf` for a charge that recovery must not decide about. */
export const LEAVE: unique symbol = Symbol.for("giftcard-pay.leave");

/** The money flow of a shop. All refusals are CheckoutErrors. */
export interface Engine {
  readonly environment: "live" | "sandbox";
  readonly journal: Journal;
  /**
   * Returns a card's spendable balance, with the same limits on guesses as a quote. Takes no money.
   *
   * @param from the shopper's cart or IP address, for which a wrong guess counts; at least one of them
   * @throws {TypeError} if both are missing
   */
  balance(card: CardEntry, from: Guesser): Promise<CardBalance>;
  /** Requests the card's balance once, and stores a quote. Takes no money. */
  quote(cart: CartView, card: CardEntry): Promise<Quote>;
  /**
   * Applies a quoted card, or quotes and applies one. Takes no money.
   *
   * @param also a further write that has to succeed with it; it runs before observers are notified. If it throws, the
   *   change is undone, the quote can be applied again, and the error is thrown
   * @throws {CheckoutError} refusals of the card or the service; card_already_applied; too_many_cards; nothing_to_pay;
   *   giftcard_not_payable; quote_expired
   */
  apply(cart: CartView, request: ApplyRequest, also?: () => Promise<void>): Promise<CartSummary>;
  /** Returns the applied cards, the amount that they cover, and the remainder, in cents. Does not call the service. */
  summary(cart: CartView): Promise<CartSummary>;
  /**
   * Removes an applied card from the cart.
   *
   * @param tenderId the card's `id` in the summary
   * @param also a further write that has to succeed with it; it runs before observers are notified. If it throws, the
   *   card is put back, and the error is thrown
   * @throws {CheckoutError} applied_card_not_found; payment_in_progress while the card is being charged
   */
  remove(cart: CartView, tenderId: string, also?: () => Promise<void>): Promise<CartSummary>;
  /**
   * Returns how the order would be paid now. Does not call the service.
   *
   * @param tenders the cart's tenders, if the caller has just read them from the journal
   */
  plan(cart: CartView, tenders?: readonly Tender[]): Promise<PaymentPlan>;
  /**
   * Settles charges that an earlier completion of this cart left open, so that a new one can begin. Charges stay if a
   * running completion owns them, or if they can't be settled now; their cards then pay nothing.
   */
  recoverCart(cartId: string, options?: RecoverOptions): Promise<void>;
  /**
   * Refuses to charge other amounts than the shopper was shown.
   * @param shown the plan that the page has shown, as far as it is known
   * @throws {CheckoutError} payment_in_progress, applied_card_expired or amount_changed, depending on the cause
   */
  checkShown(plan: PaymentPlan, shown: unknown): void;
  /**
   * Charges all cards of an order: records all charges, then sends one after the other. Before each step, it renews their leases
   * and counts them: if recovery has taken one over, nothing else is sent, and no remainder may be authorized.
   *
   * @returns the charges as they were recorded, in the order in which they were sent
   * @throws {CheckoutError} as `begin` and `devalue`; payment_in_progress if recovery has taken a charge over. The caller
   *   reverses what was begun
   */
  chargeAll(cart: CartView, parts: readonly PlannedPart[], options: ChargeAllOptions): Promise<Charge[]>;
  /**
   * Records the intent to charge a part of the plan, owned by `owner` until its lease runs out.
   * @param externalId the shop's own id of this payment; later calls find its charges by it
   * @param options.orderId the order, if the shop knows it already; otherwise `commit` sets it
   * @param options.attemptId the attempt of the purchase that it belongs to, if there is one
   * @param options.isOnlyPart whether no other card pays for the order, and `devalue` follows at once. If the part is a
   *   single charge, it is then recorded as `sent` at once, which saves a write
   * @returns the payment's charges, in the order in which they have to be sent
   * @throws {CheckoutError} payment_in_progress, applied_card_expired
   * @throws {RangeError} if the charges don't add up to the part
   */
  begin(
    cart: CartView,
    part: PlannedPart,
    externalId: string,
    owner: string,
    options?: { orderId?: string | undefined; attemptId?: string | undefined; isOnlyPart?: boolean },
  ): Promise<Charge[]>;
  /**
   * Sends the devalue of a charge that was begun exactly once, and returns the charge in state `devalued`. Only the engine that began
   * the charge can send it. A second call returns a charge that is devalued already, and otherwise throws
   * payment_in_progress.
   * @throws {CheckoutError} the card's refusal (nothing taken), balance_changed (less was taken, and is reversed),
   *   service_unavailable (resolved, nothing taken), outcome_unknown (recovery resolves it)
   */
  devalue(reference: string): Promise<Charge>;
  /** Renews the owner's leases; call it before each slow step of a completion. Returns how many it still holds. */
  renew(owner: string): Promise<number>;
  /** Assigns a devalued charge to its order. @throws {CheckoutError} payment_in_progress if recovery took it over: fail the completion */
  commit(reference: string, owner: string, orderId: string): Promise<Charge>;
  /**
   * Captures a payment of an order: all its charges that weren't refunded, or none. Idempotent.
   *
   * @throws {CheckoutError} payment_in_progress if one of them isn't committed
   */
  capture(externalId: string): Promise<Charge[]>;
  /**
   * Records that the charge must be reversed, then tries it. Returns it as `reversed`, as `reversing` if recovery has to
   * retry, or as `refused` if nothing was taken. A charge in any other state is unchanged. Idempotent. Never throws if the
   * service is down.
   *
   * @param options.from the states from which a charge is reversed, decided by the write itself. Default: all in which
   *   money was taken
   */
  reverse(reference: string, reason: string, options?: { from?: readonly ChargeState[] }): Promise<Charge>;
  /**
   * Reverses all charges of a payment, as `reverse` does. Captured charges are returned unchanged. If a cancel and a
   * capture race, one of them succeeds.
   */
  cancel(externalId: string): Promise<Charge[]>;
  /**
   * Refunds a payment or a part of it, by reversing charges that add up to exactly the amount, all of them or none. The
   * refund is recorded first; recovery retries reversals that fail. Idempotent by its id.
   *
   * @param refund.id the shop's own id of this refund
   * @param refund.amountCents the amount to refund
   * @param refund.references the charges that may be reversed. Default: any open one, the last first
   * @param refund.booked the ids of the refunds that the shop has. Charges that were reversed for any other refund are
   *   used first, because the shop doesn't know of it. Default: all recorded refunds
   * @returns the charges that are reversed for it, or whose reversal is owed
   * @throws {RefundError} if no open charges add up to the amount, with the nearest amounts that do
   * @throws {CheckoutError} applied_card_not_found
   */
  refund(
    externalId: string,
    refund: {
      id: string;
      amountCents: number;
      references?: readonly string[] | undefined;
      booked?: readonly string[] | undefined;
    },
  ): Promise<Charge[]>;
  /**
   * Voids the charge of a failed completion: reverses it, and puts its card back on the cart, even if the charge was
   * committed. The card is `settling` while the reversal is owed, then `applied`.
   *
   * @param options.orderIsGone whether the order of the charge no longer exists; the charge then has no order
   */
  void(reference: string, options?: { orderIsGone?: boolean }): Promise<Charge>;
  /**
   * Returns the facts for a person who has to decide about a charge: both balances, earlier decisions, and the shop's
   * other charges of the card. null if there is no such charge.
   */
  evidence(reference: string): Promise<Evidence | null>;
  /**
   * Retries a charge that needs attention, for example after the service was configured again, or an owed reversal.
   * Records who decided so.
   *
   * @param actor the person
   * @returns the charge as it is now, or null if it doesn't need attention (any more)
   */
  retry(reference: string, actor: string): Promise<Charge | null>;
  /** Records a person's decision that the money was taken and stays taken. Otherwise as `retry`. */
  markTaken(reference: string, actor: string): Promise<Charge | null>;
  /** Records a person's decision that nothing was taken, or that it is back on the card. Otherwise as `retry`. */
  markNotTaken(reference: string, actor: string): Promise<Charge | null>;
  /**
   * Settles charges after crashes and lost responses: those whose lease ran out, unknown outcomes, and owed reversals. If
   * one fails, its `lastError` is recorded, it is retried later, and the others continue.
   *
   * @returns the charges that it settled or tried to settle, as they are now
   * @throws if the journal can't be used
   */
  recover(options?: RecoverOptions): Promise<Charge[]>;
}
