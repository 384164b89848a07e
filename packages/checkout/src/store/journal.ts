import type {
  Action,
  ActionRecord,
  Charge,
  ChargeFilter,
  ChargeListing,
  ChargeState,
  Move,
  NewPayment,
} from "./charge.js";
import type { NewTender, Tender, TenderState } from "./tender.js";

/** A limit on guesses: at most `max` for `key` within a window. */
export interface GuessLimit {
  readonly key: string;
  readonly max: number;
}

/** A sealed value, to be sealed under another key. */
export interface SealedValue {
  readonly table: "giftcard_tender" | "giftcard_charge" | "giftcard_secret";
  readonly column: "sealed_card" | "sealed_token" | "sealed";
  /** The tender's id, the charge's reference, or the secret's name. */
  readonly id: string;
  readonly sealed: string;
}

/**
 * The storage of tenders and charges. Every change is atomic, is durable when it returns, and uses the store's clock, so
 * that several processes can share it.
 */
export interface Journal {
  /** Returns the time of the store's clock. */
  now(): Promise<Date>;
  /** Adds a quoted tender that expires after `lifeMs`. */
  addQuote(tender: NewTender, lifeMs: number): Promise<void>;
  /**
   * Applies a quote of this cart that is at most `quoteLifeMs` old, unless `maxCards` others are applied or being charged.
   * Expired cards don't count, and an expired one with the same number is removed.
   */
  applyQuote(
    cartId: string,
    tenderId: string,
    limits: { readonly quoteLifeMs: number; readonly maxCards: number },
  ): Promise<"applied" | "duplicate" | "full" | "gone">;
  /** Removes an applied card, unless it is being charged. */
  removeTender(cartId: string, tenderId: string): Promise<"removed" | "charging" | "gone">;
  /**
   * Restores a tender to an earlier state, with its sealed card, to undo a change of the cart.
   *
   * @param from the state that the change has set
   * @returns false if it has another state by now, or if the cart has the same card or `maxCards` others
   */
  putBack(tender: Tender, from: TenderState, maxCards: number): Promise<boolean>;
  /** Returns a tender, or null. */
  tender(tenderId: string): Promise<Tender | null>;
  /** Returns the applied and charging tenders, oldest first. */
  tenders(cartId: string): Promise<Tender[]>;
  /** Whether a card with this fingerprint is on the cart: applied and not expired, or being charged. */
  holdsCard(cartId: string, fingerprint: string): Promise<boolean>;
  /**
   * Records the charges of a payment, and sets its tender to `charging`. Returns none if the tender isn't applied to this
   * cart, has expired, or has an open charge, or if a payment with this id exists.
   */
  begin(payment: NewPayment, lease: { owner: string; forMs: number }): Promise<Charge[]>;
  /** Returns a charge, or null. */
  charge(reference: string): Promise<Charge | null>;
  /** Returns the charges of a payment by the shop's own id, in sending order. */
  chargesOfPayment(externalId: string): Promise<Charge[]>;
  /** Returns the charges of a cart, newest first; those of one payment in reverse sending order. */
  chargesOfCart(cartId: string): Promise<Charge[]>;
  /**
   * Changes a charge by compare-and-set, and its tender with it: `refused` and `reversed` return the tender to the cart,
   * `committed` spends it, and `captured` and `taken` delete its sealed card. If a reversed charge had taken less than
   * requested, that was the whole balance, so it becomes the tender's balance. A tender is `charging` while it has an open
   * charge without an order.
   * @returns the changed charge, or null if it wasn't in `from` (or not leased to `owner`)
   */
  move(reference: string, move: Move): Promise<Charge | null>;
  /** Changes several charges to an unsettled state, as `move` does: all of them, or none and null if one of them can't change. */
  moveAll(references: readonly string[], move: Move): Promise<Charge[] | null>;
  /** Renews the leases of an owner to at least nine tenths of `forMs` from now. Returns how many it still holds. */
  renew(owner: string, forMs: number): Promise<number>;
  /**
   * Returns the next unsettled charge by reference, after `after` ("" to begin), whose lease has run out: of this cart or,
   * without one, whose next attempt is due. To visit each charge once, call it with the last result's reference until it
   * returns null.
   */
  nextDue(after: string, cartId?: string): Promise<Charge | null>;
  /**
   * Leases a charge whose lease has run out. Returns null if it is leased, or doesn't exist.
   *
   * @param states the required states. Default: those that recovery settles
   */
  claim(
    reference: string,
    lease: { owner: string; forMs: number },
    states?: readonly ChargeState[],
  ): Promise<Charge | null>;
  /** Releases a lease of this owner. */
  release(reference: string, owner: string): Promise<void>;
  /** Lists charges in the order of `sort`, with the count of all matches. */
  list(filter: ChargeListing): Promise<{ charges: Charge[]; count: number }>;
  /**
   * Returns up to `limit` charges by reference, after `after` ("" to begin). Read page by page until one isn't full, it
   * returns each charge once, even while charges are added and changed.
   */
  readPage(filter: ChargeFilter, after: string, limit: number): Promise<Charge[]>;
  /** Returns all charges of this charge's card, of any cart, newest first. */
  chargesOfCard(reference: string): Promise<Charge[]>;
  /** Counts charges by state. */
  countByState(): Promise<Partial<Record<ChargeState, number>>>;
  /** Changes a charge as `move` does, and records the decision in the same write. */
  act(reference: string, move: Move, by: { action: Action; actor: string }): Promise<Charge | null>;
  /** Returns the decisions about a charge, oldest first. */
  actions(reference: string): Promise<ActionRecord[]>;
  /**
   * Counts a guess for every key, before it is checked.
   * @returns 0 if no limit is exceeded, otherwise the seconds until the last of the exceeded windows ends
   */
  takeGuess(limits: readonly GuessLimit[], windowMs: number): Promise<number>;
  /** Uncounts a guess that was right, or was not checked. */
  returnGuess(limits: readonly GuessLimit[]): Promise<void>;
  /** Stores a sealed value under a name, unless there is one. Returns the stored one. */
  keepSecret(name: string, sealed: string): Promise<string>;
  /** Counts the sealed values that are still needed, by the id of their key. */
  sealCounts(): Promise<Record<string, number>>;
  /** Returns up to `limit` sealed values that are still needed, and aren't sealed under this key. */
  sealedUnderOther(keyId: string, limit: number): Promise<SealedValue[]>;
  /** Replaces a sealed value, unless it has changed since. */
  replaceSealed(value: SealedValue, sealed: string): Promise<boolean>;
  /** Deletes expired sealed cards and unused quotes, and removes applied cards from carts that were left a month ago. */
  purge(): Promise<void>;
}
