import type { GiftcardClient } from "@giftcard-pay/client";
import type { AttemptView } from "./attempt-view.js";
import type { ActionRecord, Attempt, Journal } from "./journal.js";
import type { Sealer } from "./seal.js";
import type { ApplyRequest, CardBalance, CardEntry, CartSummary, Quote } from "./storefront.js";

/** What the flow needs to know of a cart, read from the shop at the moment of the call. */
export interface CartView {
  readonly id: string;
  /** The total in cents, before gift cards. */
  readonly totalCents: number;
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
}

/** How an order is to be paid: the cards first, then the remainder. */
export interface PaymentPlan {
  /** Cards that pay something, oldest first. */
  readonly parts: readonly PlannedPart[];
  readonly coveredCents: number;
  readonly remainderCents: number;
  /** True when an applied card's time has run out, so that it pays nothing. */
  readonly hasExpired: boolean;
  /** True when a card pays nothing because an attempt to charge it lives. */
  readonly hasSettling: boolean;
}

/** Wrong guesses of number and PIN that are judged in one window; past them, even a right pair has to wait. */
export interface GuessLimits {
  /** Default 15 minutes. */
  readonly windowMs?: number;
  /** Default 10. */
  readonly perCart?: number;
  /** Per address of a shopper on the network, where the shop knows it. Default 20. */
  readonly perAddress?: number;
  /** Default 600. */
  readonly perShop?: number;
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
  /** Written into each attempt and shown to the shopper. Default: the client's, or else `live`. */
  readonly environment?: "live" | "sandbox";
  readonly journal: Journal;
  readonly sealer: Sealer;
  /** Cards per order. Default 5. */
  readonly maxCards?: number;
  /** How long an applied card can be charged. Default two hours. */
  readonly tenderLifeMs?: number;
  /** How long a quote can be applied. Default 15 minutes. */
  readonly quoteLifeMs?: number;
  /** How long a completion owns its attempts unless renewed; longer than its time-outs together. Default two minutes. */
  readonly leaseMs?: number;
  /** How many wrong guesses of card number and PIN are judged. */
  readonly guessLimits?: GuessLimits;
  /** Called after a card was applied to a cart or removed from it, for logs and events. */
  readonly onTender?: (change: TenderChange) => void;
  /** Called after each change of an attempt's state, for logs and events: references, states, codes and cents only. */
  readonly onChange?: (attempt: Attempt) => void;
}

/** What a person goes by. Nothing sealed is in it. */
export interface Evidence {
  readonly attempt: AttemptView;
  /** When the card was entered, and its balance read. */
  readonly balanceBeforeAt: Date | null;
  /** What people did about it, oldest first. */
  readonly actions: readonly Omit<ActionRecord, "reference">[];
  /** In any cart, newest first. */
  readonly otherAttemptsOfCard: readonly AttemptView[];
}

/** How far one run of recovery goes. */
export interface RecoverOptions {
  /** The most attempts that are ended in this run. Default 100. */
  readonly limit?: number | undefined;
  /**
   * Asked before a devalued attempt whose completion died is given back: the order that was placed and fully paid with
   * it, or null. Such an attempt is committed to that order instead.
   */
  readonly orderOf?: ((attempt: Attempt) => Promise<string | null>) | undefined;
}

/** The money flow of a shop: what may be called, and what is true afterwards. All refusals are CheckoutErrors. */
export interface Engine {
  readonly environment: "live" | "sandbox";
  readonly journal: Journal;
  /** What a card holds that can be spent, without a cart; within the same limits on guesses. Takes nothing. */
  balance(card: CardEntry, from?: { address?: string | undefined }): Promise<CardBalance>;
  /** Asks the card's balance, once, and writes a quote. Takes nothing. */
  quote(cart: CartView, card: CardEntry): Promise<Quote>;
  /** Applies a quoted card (or quotes and applies). Takes nothing. */
  apply(cart: CartView, request: ApplyRequest): Promise<CartSummary>;
  /** The applied cards, what they cover of the total, and what is left, in cents. Takes nothing and calls nobody. */
  summary(cart: CartView): Promise<CartSummary>;
  /**
   * Takes an applied card off the cart.
   *
   * @param tenderId the card's `id` in the summary
   * @throws {CheckoutError} applied_card_not_found; payment_in_progress while it is being charged
   */
  remove(cart: CartView, tenderId: string): Promise<CartSummary>;
  /** How the order would be paid now. Takes nothing and calls nobody. */
  plan(cart: CartView): Promise<PaymentPlan>;
  /**
   * Ends what an earlier completion of this cart left open, so that a new one may begin. Attempts that a living
   * completion owns, or that can't be ended now, stay, and their cards count for nothing.
   */
  settle(cartId: string): Promise<void>;
  /**
   * Refuses a completion whose cards and other payments don't add up to the total.
   * @param otherCents what the other payments of the order will authorize
   * @throws payment_in_progress, applied_card_expired or amount_changed, by the cause
   */
  checkCovers(plan: PaymentPlan, otherCents: number): void;
  /**
   * Writes the intent to charge a part of the plan, owned by `owner` until its lease runs out.
   * @param externalId the shop's own id of this payment; a later call finds the attempt by it
   * @param orderId where the shop knows the order already; else `commit` names it
   * @throws payment_in_progress, applied_card_expired
   */
  begin(
    cart: CartView,
    part: PlannedPart,
    externalId: string,
    owner: string,
    orderId?: string,
  ): Promise<Attempt>;
  /**
   * Sends the devalue of an intent, exactly once, and returns the attempt in `devalued`. Only the engine that began
   * the attempt sends it. A second call for an attempt that is devalued already returns it; any other throws payment_in_progress.
   * @throws the card's refusal (nothing taken), balance_changed (taken less, reversed), service_unavailable (ended,
   *   nothing taken), outcome_unknown (recovery ends it)
   */
  devalue(reference: string): Promise<Attempt>;
  /** Prolongs the owner's leases; call it before each slow step of a completion. Returns how many it still holds. */
  renew(owner: string): Promise<number>;
  /** Gives a devalued attempt to its order. @throws payment_in_progress when recovery was faster: fail the completion */
  commit(reference: string, owner: string, orderId: string): Promise<Attempt>;
  /** Confirms that the order is paid. Done twice it is done once. */
  capture(reference: string): Promise<Attempt>;
  /**
   * Writes down that the deduction must go back, then tries it. Returns `reversed`, or `reversing` while it is owed
   * (recovery goes on), or `refused` where nothing had been taken. Done twice it is done once. Never throws for a
   * service that is down.
   */
  reverse(reference: string, reason: string): Promise<Attempt>;
  /**
   * What a person goes by who must tell what became of an attempt: the attempt with both balances, what people did
   * about it, and the shop's other movements on its card. null where there is no such attempt.
   */
  evidence(reference: string): Promise<Evidence | null>;
  /**
   * A person's decision about an attempt that needs attention, written down with who decided: ask the service again, for
   * example after it was configured again. Also tries an owed reversal now.
   *
   * @param actor who decided
   * @returns the attempt as it is now, or null when it doesn't need attention (any more)
   */
  retry(reference: string, actor: string): Promise<Attempt | null>;
  /** A person's decision: the money is off the card and stays off. Otherwise as `retry`. */
  markTaken(reference: string, actor: string): Promise<Attempt | null>;
  /** A person's decision: nothing was taken, or it is back on the card. Otherwise as `retry`. */
  markNotTaken(reference: string, actor: string): Promise<Attempt | null>;
  /** Ends what crashes and lost answers left: attempts whose lease ran out, unknown outcomes, reversals owed. */
  recover(options?: RecoverOptions): Promise<Attempt[]>;
}
