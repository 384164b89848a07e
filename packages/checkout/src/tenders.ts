import { randomUUID } from "node:crypto";
import { type Cents, type GiftcardClient, MAX_DEDUCTION_CENTS, Secret } from "@giftcard-pay/client";
import type { CartView, GuessLimits, PaymentPlan, TenderChange } from "./engine.js";
import { CheckoutError, toCheckoutError } from "./errors.js";
import type { Journal, Tender } from "./journal.js";
import { tenderAudience } from "./money-desk.js";
import type { Card, Sealer } from "./seal.js";
import type {
  AppliedCard,
  ApplyRequest,
  CardBalance,
  CardEntry,
  CartSummary,
  LimitedBy,
  Quote,
} from "./storefront.js";

/** What one card pays of what is left of an order: the smallest of that, its balance, and the limit of a devalue. */
export function cardShare(
  leftCents: number,
  balanceCents: number,
): { amountCents: number; limitedBy: LimitedBy } {
  const amountCents = Math.min(leftCents, balanceCents, MAX_DEDUCTION_CENTS);
  const limitedBy = amountCents === leftCents ? "order" : amountCents === balanceCents ? "balance" : "limit";
  return { amountCents, limitedBy };
}

interface TenderDesk {
  readonly client: GiftcardClient;
  readonly journal: Journal;
  readonly sealer: Sealer;
  readonly environment: "live" | "sandbox";
  readonly maxCards: number;
  readonly tenderLifeMs: number;
  readonly quoteLifeMs: number;
  readonly guessLimits: GuessLimits;
  readonly onTender: (change: TenderChange) => void;
}

/** The part of the flow that takes nothing: quote, apply, list, remove, plan. */
export function createTenders(desk: TenderDesk) {
  const { client, journal, sealer } = desk;

  async function plan(cart: CartView): Promise<PaymentPlan> {
    return toPlan(cart, await journal.tenders(checkedCart(cart).id));
  }

  async function summary(cart: CartView): Promise<CartSummary> {
    const tenders = await journal.tenders(checkedCart(cart).id);
    const { coveredCents, remainderCents } = toPlan(cart, tenders);
    return {
      cartId: cart.id,
      currency: "EUR",
      totalCents: cart.totalCents,
      coveredCents,
      remainingCents: remainderCents,
      maxPerCardCents: MAX_DEDUCTION_CENTS,
      maxCards: desk.maxCards,
      cards: toAppliedCards(cart, tenders),
      environment: desk.environment,
    };
  }

  async function quote(cart: CartView, entry: CardEntry): Promise<Quote> {
    const card = readCard(entry);
    const { remainderCents } = await roomFor(cart);
    const { balanceCents, expiryDate } = await guarded(cart, () => spendableBalance(card));
    const fingerprints = sealer.fingerprints(card.cardNumber);
    if (await journal.holdsCard(cart.id, fingerprints)) throw new CheckoutError("card_already_applied");
    const id = `gct_${randomUUID()}`;
    const lastFour = card.cardNumber.lastFour();
    const sealedCard = await sealer.sealTenderCard(card, tenderAudience(desk, cart.id), desk.tenderLifeMs);
    await journal.addQuote(
      { id, cartId: cart.id, lastFour, fingerprint: fingerprints[0] ?? "", balanceCents, sealedCard },
      desk.tenderLifeMs,
    );
    const { amountCents, limitedBy } = cardShare(remainderCents, balanceCents);
    return {
      quoteId: id,
      lastFour,
      balanceCents,
      usableCents: amountCents,
      limitedBy,
      remainingCents: remainderCents - amountCents,
      expiryDate,
    };
  }

  async function balance(
    entry: CardEntry,
    from: { address?: string | undefined } = {},
  ): Promise<CardBalance> {
    const card = readCard(entry);
    const { balanceCents, expiryDate } = await guarded(from, () => spendableBalance(card));
    return { lastFour: card.cardNumber.lastFour(), balanceCents, expiryDate };
  }

  async function apply(cart: CartView, request: ApplyRequest): Promise<CartSummary> {
    const quoteId = "quoteId" in request ? request.quoteId : (await quote(cart, request)).quoteId;
    if (typeof quoteId !== "string" || quoteId === "") throw new CheckoutError("invalid_request");
    const applied = (await journal.tenders(checkedCart(cart).id)).some((t) => t.id === quoteId);
    if (!applied) {
      await roomFor(cart);
      const outcome = await journal.applyQuote(cart.id, quoteId, desk.quoteLifeMs);
      if (outcome === "duplicate") throw new CheckoutError("card_already_applied");
      if (outcome === "gone") throw new CheckoutError("quote_expired");
      desk.onTender({ event: "applied", cartId: cart.id, tenderId: quoteId });
    }
    return summary(cart);
  }

  async function remove(cart: CartView, tenderId: string): Promise<CartSummary> {
    const outcome = await journal.removeTender(cart.id, tenderId);
    if (outcome === "charging") throw new CheckoutError("payment_in_progress");
    if (outcome === "gone") throw new CheckoutError("applied_card_not_found");
    desk.onTender({ event: "removed", cartId: cart.id, tenderId });
    return summary(cart);
  }

  /** Refuses where the cart takes no further card; returns what is left to pay. */
  async function roomFor(cart: CartView): Promise<PaymentPlan> {
    const tenders = await journal.tenders(checkedCart(cart).id);
    const current = toPlan(cart, tenders);
    if (current.remainderCents === 0) throw new CheckoutError("nothing_to_pay");
    if (tenders.filter((t) => !t.expired).length >= desk.maxCards) throw new CheckoutError("too_many_cards");
    return current;
  }

  /** Lets a guess be judged only within the limits, and counts it unless number and PIN matched. */
  async function guarded<T>(from: Partial<CartView>, judge: () => Promise<T>): Promise<T> {
    const { windowMs = 15 * 60_000, perCart = 10, perAddress = 20, perShop = 600 } = desk.guessLimits;
    const limits = [
      { key: "shop", max: perShop },
      ...(from.id ? [{ key: `cart:${from.id}`, max: perCart }] : []),
      ...(from.address ? [{ key: `address:${sealer.pseudonym(from.address)}`, max: perAddress }] : []),
    ];
    const retryAfterSeconds = await journal.takeGuess(limits, windowMs);
    if (retryAfterSeconds > 0) {
      // What isn't judged doesn't count, or one who is shut out could shut out the whole shop.
      await journal.returnGuess(limits);
      throw new CheckoutError("too_many_attempts", { retryAfterSeconds });
    }
    try {
      const judged = await judge();
      await journal.returnGuess(limits);
      return judged;
    } catch (error) {
      const isWrong = error instanceof CheckoutError && error.code === "invalid_card";
      if (!isWrong) await journal.returnGuess(limits);
      throw error;
    }
  }

  async function spendableBalance(card: Card): Promise<{ balanceCents: Cents; expiryDate: string }> {
    const answer = await client.balance(card).catch((error: unknown) => {
      throw toCheckoutError(error);
    });
    const { balanceCents, cardStatus, currency, expiryDate } = answer;
    if (currency.toUpperCase() !== "EUR") throw new CheckoutError("currency_not_supported");
    if (cardStatus === "Blocked") throw new CheckoutError("card_blocked");
    if (cardStatus === "Expired") throw new CheckoutError("card_expired");
    if (cardStatus === "No balance" || (cardStatus === "Active" && balanceCents === 0)) {
      throw new CheckoutError("card_no_balance");
    }
    if (cardStatus !== "Active") throw new CheckoutError("card_not_active");
    return { balanceCents, expiryDate };
  }

  return { balance, quote, apply, summary, remove, plan };
}

function checkedCart(cart: CartView): CartView {
  if (cart.currency.toUpperCase() !== "EUR") throw new CheckoutError("currency_not_supported");
  if (!Number.isSafeInteger(cart.totalCents) || cart.totalCents < 0) throw new CheckoutError("internal");
  return cart;
}

/** Only white space around the entry goes: what a card number looks like is the issuer's affair. */
function readCard(entry: CardEntry): Card {
  const [cardNumber, pin] = [entry?.cardNumber, entry?.pin].map((v) =>
    typeof v === "string" ? v.trim() : "",
  );
  if (!cardNumber || !pin || cardNumber.length > 64 || pin.length > 64)
    throw new CheckoutError("invalid_request");
  return { cardNumber: new Secret(cardNumber), pin: new Secret(pin) };
}

function toAppliedCards(cart: CartView, tenders: readonly Tender[]): AppliedCard[] {
  let leftCents = cart.totalCents;
  return tenders.map((tender) => {
    const { id, lastFour, balanceCents } = tender;
    const state = tender.state === "charging" ? "settling" : tender.expired ? "expired" : "applied";
    const use = cardShare(leftCents, balanceCents);
    if (state !== "applied")
      return { id, lastFour, balanceCents, state, amountCents: 0, limitedBy: use.limitedBy };
    leftCents -= use.amountCents;
    return { id, lastFour, balanceCents, state, ...use };
  });
}

function toPlan(cart: CartView, tenders: readonly Tender[]): PaymentPlan {
  const cards = toAppliedCards(cart, tenders);
  const parts = cards
    .filter((card) => card.amountCents > 0)
    .map(({ id, lastFour, amountCents }) => ({ tenderId: id, lastFour, amountCents }));
  const coveredCents = parts.reduce((sum, part) => sum + part.amountCents, 0);
  return {
    parts,
    coveredCents,
    remainderCents: cart.totalCents - coveredCents,
    hasExpired: cards.some((card) => card.state === "expired"),
    hasSettling: cards.some((card) => card.state === "settling"),
  };
}
