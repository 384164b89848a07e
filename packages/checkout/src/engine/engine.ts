import type { GiftcardClient } from "@giftcard-pay/client";
import type { Sealer } from "../sealing/seal.js";
import type { ActionRecord, Charge } from "../store/charge.js";
import type { Journal } from "../store/journal.js";
import type { ApplyRequest, CardBalance, CardEntry, CartSummary, Quote } from "../storefront.js";
import type { LaidCharge } from "./charge-layout.js";
import type { ChargeView } from "./charge-view.js";
import type { Guesser, GuessLimits } from "./guess-limits.js";
import type { OnFailure } from "./observers.js";

/** What the flow needs to know of a cart, read from the shop at the moment of the call. */
export interface CartView {
  readonly id: string;
  /** The total in cents, before gift cards. */
  readonly totalCents: number;
  /** What of the total no card may pay, in cents, such as gift cards in the cart. Default: nothing. */
  readonly notByCardCents?: number | undefined;
  /** ISO 4217, any case. */
  readonly currency: string;
  /** The shopper's address on the network, for the limits; only its keyed hash is kept. */
  readonly address?: string | undefined;
}

/** What one applied card pays of the order. */
export interface PlannedPart {
  readonly tenderId: string;
  readonly lastFour: string;
  readonly amountCents: number;
  /** By which charges it is paid, in this order. Default: one, as a whole. */
  readonly charges?: readonly LaidCharge[];
}

/** How an order is to be paid: the cards first, then the remainder. */
export interface PaymentPlan {
  /** Cards that pay something, oldest first. */
  readonly parts: readonly PlannedPart[];
  readonly coveredCents: number;
  readonly remainderCents: number;
  /** True when an applied card's time has run out, so that it pays nothing. */
  readonly hasExpired: boolean;
  /** True when a card pays nothing because a charge of it lives. */
  readonly hasSettling: boolean;
}

/** A card was applied to a cart, or removed from it. */
export interface TenderChange {
  readonly event: "applied" | "removed";
  readonly cartId: string;
  readonly tenderId: string;
}

/** What an engine works with, and its limits. */
export interface EngineOptions {
  /** Must have a company id. */
  readonly client: GiftcardClient;
  /** Written into each charge and shown to the shopper. Default: the client's, or else `live`. */
  readonly environment?: "live" | "sandbox";
  readonly journal: Journal;
  readonly sealer: Sealer;
  /** Cards per order. Default 5. */
  readonly maxCards?: number;
  /** How long an applied card can be charged. Default two hours. */
  readonly tenderLifeMs?: number;
  /** How long a quote can be applied. Default 15 minutes. */
  readonly quoteLifeMs?: number;
  /** How long a completion owns its charges unless renewed; longer than its time-outs together. Default two minutes. */
  readonly leaseMs?: number;
  /** How many wrong guesses of card number and PIN are judged. */
  readonly guessLimits?: GuessLimits;
  /** Called after a card was applied to a cart or removed from it, for logs and events. Nobody waits for it. */
  readonly onTender?: (change: TenderChange) => unknown;
  /**
   * Called after each change of a charge's state, for logs and events: references, states, codes and cents, nothing sealed.
   * Nobody waits for it.
   */
  readonly onChange?: (charge: ChargeView) => unknown;
  /**
   * Hears of failures that nobody waits for: what `onTender` or `onChange` throws, and what one charge fails with in
   * `recover` or `settle`. And of those that only the shop can mend: a key that is refused, a service that can't be reached,
   * each code at most once a minute. Default: a line on the console with the failure's name and code.
   */
  readonly onFailure?: OnFailure;
}

/** What a person goes by. Nothing sealed is in it. */
export interface Evidence {
  readonly charge: ChargeView;
  /** When the card was entered, and its balance read. */
  readonly balanceBeforeAt: Date | null;
  /** What people did about it, oldest first. */
  readonly actions: readonly Omit<ActionRecord, "reference">[];
  /** In any cart, newest first. */
  readonly otherChargesOfCard: readonly ChargeView[];
}

/** How far one run of recovery goes. */
export interface RecoverOptions {
  /** The most charges that are ended in this run. Default: all that are due. */
  readonly limit?: number | undefined;
  /**
   * Asked before a devalued charge whose completion died is reversed. The id of the order that was placed and fully
   * paid with it: the charge is committed to that order. null: it is reversed. `LEAVE`: something else decides about
   * it, such as the purchase that it belongs to; it isn't touched. Where it throws, the charge is looked at later.
   */
  readonly orderOf?: ((charge: Charge) => Promise<string | null | typeof LEAVE>) | undefined;
}

/** What `orderOf` answers of a charge that isn't recovery's to decide. */
export const LEAVE: unique symbol = Symbol.for("giftcard-pay.leave");

/** The money flow of a shop: what may be called, and what is true afterwards. All refusals are CheckoutErrors. */
export interface Engine {
  readonly environment: "live" | "sandbox";
  readonly journal: Journal;
  /**
   * What a card holds that can be spent; within the same limits on guesses as a quote. Takes nothing.
   *
   * @param from the shopper's cart, or address on the network, for which a wrong guess counts: at least one of them
   * @throws {TypeError} where both are missing
   */
  balance(card: CardEntry, from: Guesser): Promise<CardBalance>;
  /** Asks the card's balance, once, and writes a quote. Takes nothing. */
  quote(cart: CartView, card: CardEntry): Promise<Quote>;
  /**
   * Applies a quoted card (or quotes and applies). Takes nothing.
   *
   * @param also what must happen with it, after it is written and before it is told. If it throws, the cart is as it was
   *   before, the quote may be applied again, and its error is thrown
   * @throws {CheckoutError} what the card or the service refuses; card_already_applied; too_many_cards; nothing_to_pay;
   *   giftcard_not_payable; quote_expired
   */
  apply(cart: CartView, request: ApplyRequest, also?: () => Promise<void>): Promise<CartSummary>;
  /** The applied cards, what they cover of the total, and what is left, in cents. Takes nothing and calls nobody. */
  summary(cart: CartView): Promise<CartSummary>;
  /**
   * Takes an applied card off the cart.
   *
   * @param tenderId the card's `id` in the summary
   * @param also what must happen with it, after it is written and before it is told. If it throws, the card is on the
   *   cart as before, and its error is thrown
   * @throws {CheckoutError} applied_card_not_found; payment_in_progress while it is being charged
   */
  remove(cart: CartView, tenderId: string, also?: () => Promise<void>): Promise<CartSummary>;
  /** How the order would be paid now. Takes nothing and calls nobody. */
  plan(cart: CartView): Promise<PaymentPlan>;
  /**
   * Ends what an earlier completion of this cart left open, so that a new one may begin. Charges that a living
   * completion owns, or that can't be ended now, stay, and their cards count for nothing.
   */
  settle(cartId: string, options?: RecoverOptions): Promise<void>;
  /**
   * Refuses a completion whose cards and other payments don't add up to the total.
   * @param otherCents what the other payments of the order will authorize
   * @throws payment_in_progress, applied_card_expired or amount_changed, by the cause
   */
  checkCovers(plan: PaymentPlan, otherCents: number): void;
  /**
   * Writes the intent to charge a part of the plan, owned by `owner` until its lease runs out.
   * @param externalId the shop's own id of this payment; a later call finds its charges by it
   * @param orderId where the shop knows the order already; else `commit` names it
   * @returns the payment's charges, in the order in which they are to be sent
   * @throws payment_in_progress, applied_card_expired; RangeError where the charges aren't the part
   */
  begin(
    cart: CartView,
    part: PlannedPart,
    externalId: string,
    owner: string,
    orderId?: string,
  ): Promise<Charge[]>;
  /**
   * Sends the devalue of an intent, exactly once, and returns the charge in `devalued`. Only the engine that began
   * the charge sends it. A second call for a charge that is devalued already returns it; any other throws payment_in_progress.
   * @throws the card's refusal (nothing taken), balance_changed (taken less, reversed), service_unavailable (ended,
   *   nothing taken), outcome_unknown (recovery ends it)
   */
  devalue(reference: string): Promise<Charge>;
  /** Prolongs the owner's leases; call it before each slow step of a completion. Returns how many it still holds. */
  renew(owner: string): Promise<number>;
  /** Gives a devalued charge to its order. @throws payment_in_progress when recovery was faster: fail the completion */
  commit(reference: string, owner: string, orderId: string): Promise<Charge>;
  /**
   * Confirms a payment of an order: all its charges that weren't refunded, or none. Done twice it is done once.
   *
   * @throws payment_in_progress where one of them isn't committed
   */
  capture(externalId: string): Promise<Charge[]>;
  /**
   * Writes down that the deduction must go back, then tries it. Returns `reversed`, or `reversing` while it is owed
   * (recovery goes on), or `refused` where nothing had been taken; a charge in any other state stays as it is. Done
   * twice it is done once. Never throws for a service that is down.
   */
  reverse(reference: string, reason: string): Promise<Charge>;
  /**
   * As `reverse`, of all charges of a payment, unless they are captured: then they are returned as they are. Of a cancel
   * and a capture at the same moment, one succeeds.
   */
  cancel(externalId: string): Promise<Charge[]>;
  /**
   * Gives a part of a payment back, or all of it: those of its charges that make up the sum exactly, all of them or none.
   * Written down first; what can't be reversed now is owed, and recovery goes on. Done twice it is done once.
   *
   * @param refund.id the shop's own id of this refund: by it a second call is known
   * @param refund.amountCents what goes back
   * @param refund.references which charges may go back for it. Default: any that is open, the last first
   * @param refund.booked the ids of the refunds that the shop has. A charge that went back for any other is taken first,
   *   since the shop doesn't know of it. Default: all that stand written
   * @returns the charges that went back for it, or are owed
   * @throws {RefundError} where no open charges make up the sum, with the nearest sums that can go back
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
   * Voids the charge of a completion that failed: as `reverse`, and the card is the cart's again, also where the charge
   * was committed already. While the reversal is owed its card shows as `settling`, then as `applied`.
   *
   * @param options.orderIsGone the order that the charge was committed to is gone: the charge names it no more
   */
  void(reference: string, options?: { orderIsGone?: boolean }): Promise<Charge>;
  /**
   * What a person goes by who must tell what became of a charge: the charge with both balances, what people did
   * about it, and the shop's other movements on its card. null where there is no such charge.
   */
  evidence(reference: string): Promise<Evidence | null>;
  /**
   * A person's decision about a charge that needs attention, written down with who decided: ask the service again, for
   * example after it was configured again. Also tries an owed reversal now.
   *
   * @param actor who decided
   * @returns the charge as it is now, or null when it doesn't need attention (any more)
   */
  retry(reference: string, actor: string): Promise<Charge | null>;
  /** A person's decision: the money is off the card and stays off. Otherwise as `retry`. */
  markTaken(reference: string, actor: string): Promise<Charge | null>;
  /** A person's decision: nothing was taken, or it is back on the card. Otherwise as `retry`. */
  markNotTaken(reference: string, actor: string): Promise<Charge | null>;
  /**
   * Ends what crashes and lost answers left: charges whose lease ran out, unknown outcomes, reversals owed. One that
   * fails doesn't stop the others: it is written down with its `lastError`, and looked at again later.
   *
   * @returns the charges that it ended or tried to end, as they are now
   * @throws when the journal can't be used at all
   */
  recover(options?: RecoverOptions): Promise<Charge[]>;
}
