import type { Cents } from "@giftcard-pay/client";
import type { Piece } from "./order-line.js";

/**
 * `quoted`: balance shown. `applied`: will be charged at completion. `charging`: a charge of it lives, and no order has it.
 * `spent`: an order took it. `removed`: by the shopper.
 */
export type TenderState = "quoted" | "applied" | "charging" | "spent" | "removed";

/** A gift card on a cart. Nothing is deducted because of it. */
export interface Tender {
  readonly id: string;
  readonly cartId: string;
  readonly state: TenderState;
  readonly lastFour: string;
  /** The balance when the card was quoted. */
  readonly balanceCents: Cents;
  /** Card number and PIN, sealed for this cart; null once its time has run out. */
  readonly sealedCard: string | null;
  /** Judged by the journal's clock: the sealed card must not be used any more. */
  readonly expired: boolean;
  readonly createdAt: Date;
}

/** A new tender. */
export interface NewTender {
  readonly id: string;
  readonly cartId: string;
  readonly lastFour: string;
  /** A keyed hash of the number: a cart holds it once. */
  readonly fingerprint: string;
  readonly balanceCents: Cents;
  readonly sealedCard: string;
}

/**
 * `intent`: written down, not sent. `sent`: on its way. `devalued`: taken, and the token is kept. `committed`: belongs
 * to an order. `captured`: the order is paid. `reversing`: a reversal is owed. `reversed`: the card is whole again.
 * `refused`: nothing was taken. `unknown`: it can't be told yet. `needs_attention`: a person must tell. `taken`: a person
 * told that the money is off the card, and that no reversal by this shop will bring it back.
 */
export type ChargeState =
  | "intent"
  | "sent"
  | "devalued"
  | "committed"
  | "captured"
  | "reversing"
  | "reversed"
  | "refused"
  | "unknown"
  | "needs_attention"
  | "taken";

/**
 * What one card pays of one order, or of some of its lines: at most one devalue goes out for it, ever. A card's payment
 * of an order is one charge, or several that were begun together.
 */
export interface Charge {
  /** Ours; it is the devalue's Idempotency-Key. */
  readonly reference: string;
  readonly tenderId: string;
  readonly cartId: string;
  /** The shop's own id of the payment (Medusa: the payment session). All charges of a payment have it. */
  readonly externalId: string;
  /** Which of its payment's charges it is: 1, 2 and so on, as they are sent. */
  readonly position: number;
  /** Which units of the order's lines it pays; null where the card was charged as a whole. */
  readonly pieces: readonly Piece[] | null;
  /** The shop's order: from the beginning where the shop names it then, else once the charge is committed. */
  readonly orderId: string | null;
  /** Where the devalue went; reversal and recovery go nowhere else. */
  readonly environment: string;
  readonly baseUrl: string;
  readonly companyId: number;
  readonly state: ChargeState;
  readonly lastFour: string;
  /** What was asked for; a charge that takes less is reversed at once. */
  readonly amountCents: Cents;
  readonly deductedCents: Cents | null;
  readonly sealedCard: string | null;
  readonly sealedToken: string | null;
  /** Why it was refused, is being reversed, or needs a person: a code, never a message from outside. */
  readonly reason: string | null;
  /** The shop's own id of the refund that took it back; null where none did. */
  readonly refundId: string | null;
  /** Evidence where only a person can tell: the balance when quoted, and one read afterwards. */
  readonly balanceBeforeCents: Cents;
  readonly balanceAfterCents: Cents | null;
  readonly balanceAfterAt: Date | null;
  readonly leaseOwner: string | null;
  /** Until then, by the journal's clock, nobody but its owner touches it. */
  readonly leaseUntil: Date | null;
  /** How often ending it has failed. */
  readonly tries: number;
  /** Why the last try to end it failed: a code. null where it didn't, and once its state has changed. */
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly devaluedAt: Date | null;
  readonly reversedAt: Date | null;
}

/** A card's payment of an order, to begin. */
export interface NewPayment {
  readonly tenderId: string;
  readonly cartId: string;
  readonly externalId: string;
  /** Where the shop knows it already. */
  readonly orderId?: string | undefined;
  readonly environment: string;
  readonly baseUrl: string;
  readonly companyId: number;
  /** At least one, in the order in which they are sent. */
  readonly charges: readonly NewCharge[];
}

/** A charge to begin. The card is sealed for its reference. */
export interface NewCharge {
  readonly reference: string;
  readonly amountCents: Cents;
  readonly sealedCard: string;
  /** Where the card is charged by line. */
  readonly pieces?: readonly Piece[] | undefined;
}

/** A change of state: it happens only when the charge is in one of `from` (and, where given, leased to `owner`). */
export interface Move {
  readonly from: readonly ChargeState[];
  readonly to: ChargeState;
  /** Only while this owner holds the lease. */
  readonly owner?: string;
  /** `null` clears it. */
  readonly orderId?: string | null;
  readonly deductedCents?: Cents;
  /** `null` deletes it. */
  readonly sealedCard?: null;
  readonly sealedToken?: string;
  readonly reason?: string;
  readonly refundId?: string;
  /** Only while this refund, or none, has the charge. */
  readonly refundIdWas?: string | null;
  readonly balanceAfterCents?: Cents;
  /** Takes (or keeps) the lease for so long; null gives it up. Left out: unchanged. */
  readonly lease?: { readonly owner: string; readonly forMs: number } | null;
  /** Lets recovery come back no sooner than this. */
  readonly retryInMs?: number;
  /** Why ending it failed: a code. Counts a try. Left out: a change of state clears it. */
  readonly lastError?: string;
  /**
   * A tender that the charge had spent is the cart's again: `charging` while the charge lives, `applied` when it is
   * settled. It stays spent where the same card, or `maxCards` others, are on the cart by now, where another charge
   * followed, or where its card is gone before its time.
   */
  readonly restore?: { readonly maxCards: number };
}

/** What a person did about a charge. */
export type Action = "retry" | "mark_taken" | "mark_not_taken";

/** A person's action as it was written down, for good. */
export interface ActionRecord {
  readonly reference: string;
  readonly action: Action;
  /** Who: the shop's own name or id of the person. */
  readonly actor: string;
  readonly fromState: ChargeState;
  readonly toState: ChargeState;
  readonly createdAt: Date;
}

/** Which charges to read. What is left out doesn't matter. */
export interface ChargeFilter {
  readonly states?: readonly ChargeState[];
  /** Of one of these orders; some hundreds at the most. */
  readonly orderIds?: readonly string[];
  /** Of one of these payments, by the shop's own ids; some hundreds at the most. */
  readonly externalIds?: readonly string[];
  /** Created at or after. */
  readonly from?: Date;
  /** Created before. */
  readonly to?: Date;
  /** Took money, or gave it back, at or after the first moment and before the second. */
  readonly moved?: { readonly from: Date; readonly to: Date };
  readonly environment?: string;
  readonly companyId?: number;
}

/** One page of a list. */
export interface ChargeListing extends ChargeFilter {
  /** Default 50. */
  readonly limit?: number;
  /** Default 0. */
  readonly offset?: number;
}

/** A limit on guesses: at most `max` under `key` until its window ends. */
export interface GuessLimit {
  readonly key: string;
  readonly max: number;
}

/** A sealed value that may have to be sealed anew under another key. */
export interface SealedValue {
  readonly table: "giftcard_tender" | "giftcard_charge" | "giftcard_secret";
  readonly column: "sealed_card" | "sealed_token" | "sealed";
  /** The tender's id, the charge's reference, or the secret's name. */
  readonly id: string;
  readonly sealed: string;
}

/**
 * Where the money flow is written down. Every change is atomic and durable when it returns, and is judged by the
 * store's clock, so that several processes can share it.
 */
export interface Journal {
  /** The clock by which it judges. */
  now(): Promise<Date>;
  /** Writes a quoted tender that lives for `lifeMs`. */
  addQuote(tender: NewTender, lifeMs: number): Promise<void>;
  /**
   * Turns a quote of this cart, at most `quoteLifeMs` old, into an applied card, unless `maxCards` others are applied or
   * being charged. Those whose time has run out don't count, and one with the same number gives way to it.
   */
  applyQuote(
    cartId: string,
    tenderId: string,
    limits: { readonly quoteLifeMs: number; readonly maxCards: number },
  ): Promise<"applied" | "duplicate" | "full" | "gone">;
  /** Removes an applied card, unless it is being charged. */
  removeTender(cartId: string, tenderId: string): Promise<"removed" | "charging" | "gone">;
  /**
   * Makes a tender again what it was when it was read, with its sealed card: a change of the cart is taken back.
   *
   * @param from what the change made of it
   * @returns false where it isn't that any more, or where the cart holds the same card or `maxCards` others by now
   */
  putBack(tender: Tender, from: TenderState, maxCards: number): Promise<boolean>;
  /** One tender, or null. */
  tender(tenderId: string): Promise<Tender | null>;
  /** Applied and charging tenders, oldest first. */
  tenders(cartId: string): Promise<Tender[]>;
  /** True when a card with this fingerprint is applied to the cart, in good time, or being charged. */
  holdsCard(cartId: string, fingerprint: string): Promise<boolean>;
  /**
   * Writes the intents of a payment, and makes its tender `charging`. None when the tender isn't applied, in time, and
   * this cart's, or when a charge of it lives, or when there is a payment of this id.
   */
  begin(payment: NewPayment, lease: { owner: string; forMs: number }): Promise<Charge[]>;
  /** One charge, or null. */
  charge(reference: string): Promise<Charge | null>;
  /** The charges of the shop's own payment, by its id there, as they are sent. */
  chargesOfPayment(externalId: string): Promise<Charge[]>;
  /** Newest first; those of one payment last sent first. */
  chargesOfCart(cartId: string): Promise<Charge[]>;
  /**
   * Compare-and-set. The tender follows: refused and reversed give it back to the cart, committed spends it, captured
   * and taken delete its sealed card. Reversed after less was taken than asked, it holds from then on what was taken:
   * that was all there was. It is `charging` while any charge of it lives, and no order has it.
   * @returns the charge after the change, or null when it wasn't in `from` (or not leased to `owner`)
   */
  move(reference: string, move: Move): Promise<Charge | null>;
  /** As `move` to a state in which a charge isn't over: all of them, or none and null when one of them can't change so. */
  moveAll(references: readonly string[], move: Move): Promise<Charge[] | null>;
  /** Every lease of the owner lasts at least nine tenths of `forMs` from now; returns how many it still holds. */
  renew(owner: string, forMs: number): Promise<number>;
  /**
   * The unsettled charge whose reference comes next after `after` ("" to begin), whose lease has run out, and which is of
   * this cart or, without one, whose next try is due. Called with each answer's reference until it is null, this comes
   * to all of them once.
   */
  nextDue(after: string, cartId?: string): Promise<Charge | null>;
  /**
   * Leases a charge whose lease has run out; null where it has not, or where there is none.
   *
   * @param states only in one of these; default: those that recovery ends
   */
  claim(
    reference: string,
    lease: { owner: string; forMs: number },
    states?: readonly ChargeState[],
  ): Promise<Charge | null>;
  /** Gives up what `claim` has leased to the owner; another's lease stays. */
  release(reference: string, owner: string): Promise<void>;
  /** What needs attention first, then the newest, with the count of all that match. */
  list(filter: ChargeListing): Promise<{ charges: Charge[]; count: number }>;
  /**
   * Up to `limit` charges whose references come after `after` ("" to begin), in the order of their references. Read
   * page by page until one isn't full, this finds each charge once, also while others come and change.
   */
  readPage(filter: ChargeFilter, after: string, limit: number): Promise<Charge[]>;
  /** All charges on the card of this one, in any cart, newest first: the shop's movements that its balance shows. */
  chargesOfCard(reference: string): Promise<Charge[]>;
  /** How many charges are in each state. */
  countByState(): Promise<Partial<Record<ChargeState, number>>>;
  /** Changes the state as `move` does, and writes down who did it, in one. */
  act(reference: string, move: Move, by: { action: Action; actor: string }): Promise<Charge | null>;
  /** What people did about a charge, oldest first. */
  actions(reference: string): Promise<ActionRecord[]>;
  /**
   * Counts a guess under every key, before it is judged.
   * @returns 0 when every limit holds, or else the seconds until the last of the exceeded windows ends
   */
  takeGuess(limits: readonly GuessLimit[], windowMs: number): Promise<number>;
  /** Takes a guess back that turned out to be right, or wasn't judged. */
  returnGuess(limits: readonly GuessLimit[]): Promise<void>;
  /** Keeps a sealed value under its name, unless there is one; returns the one that stands there. */
  keepSecret(name: string, sealed: string): Promise<string>;
  /** How many living values are sealed under each key, by the key's id. */
  sealCounts(): Promise<Record<string, number>>;
  /** Up to `limit` living values that aren't sealed under this key. */
  sealedUnderOther(keyId: string, limit: number): Promise<SealedValue[]>;
  /** Replaces a sealed value, unless it has changed meanwhile. */
  replaceSealed(value: SealedValue, sealed: string): Promise<boolean>;
  /** Deletes sealed cards whose time has run out, and quotes that nobody applied; forgets carts left a month ago. */
  purge(): Promise<void>;
}
