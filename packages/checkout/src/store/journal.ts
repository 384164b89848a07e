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
