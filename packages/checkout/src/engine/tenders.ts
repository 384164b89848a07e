import { createHash, randomUUID } from "node:crypto";
import { type Cents, cents, Secret } from "@giftcard-pay/client";
import type { Fingerprints } from "../sealing/fingerprints.js";
import type { Card, Sealer } from "../sealing/seal.js";
import type { Journal } from "../store/journal.js";
import type { Tender } from "../store/tender.js";
import type {
  AppliedCard,
  ApplyRequest,
  CardBalance,
  CardEntry,
  CartSummary,
  LimitedBy,
  Quote,
} from "../storefront.js";
import type { CardIssuer } from "./card-issuer.js";
import { refusalsOf } from "./card-refusals.js";
import { tenderAudience } from "./context.js";
import type { CartView, PaymentPlan, TenderChange } from "./engine.js";
import { CheckoutError, toCheckoutError } from "./errors.js";
import { createGuessLimits, type Guesser, type GuessLimits } from "./guess-limits.js";

/** Returns how much of an open amount a card pays: up to its balance, and to the issuer's limit. */
export function cardShare(
  openCents: number,
  balanceCents: number,
  maxCents: number,
): { amountCents: number; limitedBy: LimitedBy } {
  const amountCents = Math.min(openCents, balanceCents, maxCents);
  const limitedBy = amountCents === openCents ? "order" : amountCents === balanceCents ? "balance" : "limit";
  return { amountCents, limitedBy };
}

/** Another write that has to succeed together with a change of the cart. */
type Also = () => Promise<void>;

interface TenderContext {
  readonly issuer: CardIssuer;
  readonly journal: Journal;
  readonly sealer: Sealer;
  readonly fingerprints: Fingerprints;
  readonly environment: "live" | "sandbox";
  readonly maxCards: number;
  readonly leastRemainderCents: number;
  readonly tenderLifeMs: number;
  readonly quoteLifeMs: number;
  readonly guessLimits: GuessLimits;
  readonly onTender: (change: TenderChange) => void;
}

/** Quotes cards and puts them on carts. Nothing here takes money. */
export function createTenders(context: TenderContext) {
  const { issuer, journal, sealer } = context;
  const guarded = createGuessLimits(context);

  /**
   * Lays the cards out over a cart. They pay less if they would leave a remainder that the other method doesn't accept.
   * Without them, all of the cart is the remainder.
   */
  function layOut(cart: CartView, tenders: readonly Pick<Tender, "balanceCents" | "expired" | "state">[]): Share[] {
    const shares = sharesOf(payableCents(cart), tenders, issuer.maxDeductionCents);
    const coveredCents = coveredOf(shares);
    const shortCents = context.leastRemainderCents - (cart.totalCents - coveredCents);
    if (coveredCents === cart.totalCents || shortCents <= 0) return shares;
    return sharesOf(Math.max(0, coveredCents - shortCents), tenders, issuer.maxDeductionCents);
  }
  const planOf = (cart: CartView, tenders: readonly Tender[]) =>
    toPlan(cart, toAppliedCards(tenders, layOut(cart, tenders)), tenders, issuer.currency);

  async function plan(cart: CartView, tenders?: readonly Tender[]): Promise<PaymentPlan> {
    const { id } = checkedCart(cart);
    return planOf(cart, tenders ?? (await journal.tenders(id)));
  }

  async function summary(cart: CartView): Promise<CartSummary> {
    const tenders = await journal.tenders(checkedCart(cart).id);
    const { coveredCents, remainderCents, shown } = planOf(cart, tenders);
    const refusals = tenders.length > 0 ? refusalsOf(await journal.chargesOfCart(cart.id)) : new Map();
    const cards = toAppliedCards(tenders, layOut(cart, tenders)).map((card): AppliedCard => {
      const refusal = card.state === "applied" ? refusals.get(card.id) : undefined;
      return refusal === undefined ? card : { ...card, refusal };
    });
    return {
      cartId: cart.id,
      plan: shown,
      currency: issuer.currency,
      totalCents: cart.totalCents,
      coveredCents,
      remainderCents,
      ...(cart.notByCardCents ? { notByCardCents: cart.notByCardCents } : {}),
      maxPerCardCents: issuer.maxDeductionCents,
      maxCards: context.maxCards,
      cards,
      environment: context.environment,
    };
  }

  async function quote(cart: CartView, entry: CardEntry): Promise<Quote> {
    const card = readCard(entry);
    const tenders = await journal.tenders(checkedCart(cart).id);
    checkRoom(cart, tenders);
    const from = { cartId: cart.id, address: cart.address };
    const { balanceCents, expiryDate } = await guarded(from, card.cardNumber, () => spendableBalance(card));
    const fingerprint = await context.fingerprints.ofCard(card.cardNumber);
    if (await journal.holdsCard(cart.id, fingerprint)) throw new CheckoutError("card_already_applied");
    const id = `gct_${randomUUID()}`;
    const lastFour = card.cardNumber.lastFour();
    const sealedCard = await sealer.sealTenderCard(card, tenderAudience(context, cart.id), context.tenderLifeMs);
    const tender = { id, cartId: cart.id, lastFour, fingerprint, balanceCents, expiryDate, sealedCard };
    await journal.addQuote(tender, context.tenderLifeMs);
    const shares = layOut(cart, [...tenders, { balanceCents, expired: false, state: "applied" }]);
    const { amountCents: usableCents, limitedBy } = shares.at(-1) as Share;
    const remainderCents = cart.totalCents - coveredOf(shares);
    return { quoteId: id, lastFour, balanceCents, usableCents, limitedBy, remainderCents, expiryDate };
  }

  async function balance(entry: CardEntry, from: Guesser): Promise<CardBalance> {
    const card = readCard(entry);
    const { balanceCents, expiryDate } = await guarded(from, card.cardNumber, () => spendableBalance(card));
    return { lastFour: card.cardNumber.lastFour(), balanceCents, currency: issuer.currency, expiryDate };
  }

  async function apply(cart: CartView, request: ApplyRequest, also?: Also): Promise<CartSummary> {
    const quoteId = "quoteId" in request ? request.quoteId : (await quote(cart, request)).quoteId;
    if (!isId(quoteId)) throw new CheckoutError("invalid_request");
    const before = await journal.tenders(checkedCart(cart).id);
    if (!before.some((tender) => tender.id === quoteId)) {
      checkRoom(cart, before);
      const outcome = await journal.applyQuote(cart.id, quoteId, context);
      if (outcome === "duplicate") throw new CheckoutError("card_already_applied");
      if (outcome === "full") throw new CheckoutError("too_many_cards");
      if (outcome === "gone") throw new CheckoutError("quote_expired");
      await runOrUndo(also, async () => {
        const applied = await journal.tender(quoteId);
        if (applied) await journal.putBack({ ...applied, state: "quoted" }, "applied", context.maxCards);
        // An expired card may have been removed to make room.
        for (const tender of before) await journal.putBack(tender, "removed", context.maxCards);
      });
      context.onTender({ event: "applied", cartId: cart.id, tenderId: quoteId });
    }
    return summary(cart);
  }

  async function remove(cart: CartView, tenderId: string, also?: Also): Promise<CartSummary> {
    if (!isId(tenderId)) throw new CheckoutError("applied_card_not_found");
    const before = also && (await journal.tender(tenderId));
    const outcome = await journal.removeTender(cart.id, tenderId);
    if (outcome === "charging") throw new CheckoutError("payment_in_progress");
    if (outcome === "gone") throw new CheckoutError("applied_card_not_found");
    await runOrUndo(also, async () => {
      if (before) await journal.putBack(before, "removed", context.maxCards);
    });
    context.onTender({ event: "removed", cartId: cart.id, tenderId });
    return summary(cart);
  }

  /** Refuses if the cart takes no further card. What the cards leave to the other method, a further card may pay. */
  function checkRoom(cart: CartView, tenders: readonly Tender[]): void {
    const coveredCents = coveredOf(sharesOf(payableCents(cart), tenders, issuer.maxDeductionCents));
    if (coveredCents === cart.totalCents) throw new CheckoutError("nothing_to_pay");
    if (coveredCents === payableCents(cart)) throw new CheckoutError("giftcard_not_payable");
    if (tenders.filter((t) => !t.expired).length >= context.maxCards) throw new CheckoutError("too_many_cards");
  }

  async function spendableBalance(card: Card): Promise<{ balanceCents: Cents; expiryDate: string }> {
    const answer = await issuer.balance(card).catch((error: unknown) => {
      throw toCheckoutError(error);
    });
    const { balanceCents, cardStatus, currency, expiryDate } = answer;
    if (currency.toUpperCase() !== issuer.currency) throw new CheckoutError("currency_not_supported");
    if (cardStatus === "Blocked") throw new CheckoutError("card_blocked");
    if (cardStatus === "Expired") throw new CheckoutError("card_expired");
    if (cardStatus === "No balance" || (cardStatus === "Active" && balanceCents === 0)) {
      throw new CheckoutError("card_no_balance");
    }
    if (cardStatus !== "Active") throw new CheckoutError("card_not_active");
    return { balanceCents, expiryDate };
  }

  /** Validates a cart whose currency is the cards'. */
  function checkedCart(cart: CartView): CartView {
    if (cart.currency.toUpperCase() !== issuer.currency) throw new CheckoutError("currency_not_supported");
    const { totalCents, notByCardCents = 0 } = cart;
    if (!Number.isSafeInteger(totalCents) || !Number.isSafeInteger(notByCardCents)) throw new CheckoutError("internal");
    if (notByCardCents < 0 || notByCardCents > totalCents) throw new CheckoutError("internal");
    return cart;
  }

  return { balance, quote, apply, summary, remove, plan };
}

/** Runs the further write of a change. If it fails, undoes the change. */
async function runOrUndo(also: Also | undefined, undo: () => Promise<void>): Promise<void> {
  try {
    await also?.();
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Returns how much of a cart cards may pay. */
const payableCents = ({ totalCents, notByCardCents = 0 as Cents }: CartView) => totalCents - notByCardCents;

/** Whether a value is an id. A browser can send a NUL, which PostgreSQL does not accept in text. */
const isId = (value: unknown) => typeof value === "string" && value !== "" && !value.includes("\0");

/** Trims what the shopper typed. The format of card numbers is up to the issuer. */
function readCard(entry: CardEntry): Card {
  const [cardNumber, pin] = [entry?.cardNumber, entry?.pin].map((v) => (typeof v === "string" ? v.trim() : ""));
  if (!cardNumber || !pin || cardNumber.length > 64 || pin.length > 64) throw new CheckoutError("invalid_request");
  return { cardNumber: new Secret(cardNumber), pin: new Secret(pin) };
}

/** How much of a cart a card pays, and why no more. */
type Share = Pick<AppliedCard, "amountCents" | "limitedBy" | "state">;

/** Returns the share of each card, in the order in which they were applied. */
function sharesOf(
  payableCents: number,
  tenders: readonly Pick<Tender, "balanceCents" | "expired" | "state">[],
  maxCents: number,
): Share[] {
  let leftCents = payableCents;
  return tenders.map((tender) => {
    const state = tender.state === "charging" ? "settling" : tender.expired ? "expired" : "applied";
    const use = cardShare(leftCents, tender.balanceCents, maxCents);
    if (state !== "applied") return { state, amountCents: 0, limitedBy: use.limitedBy };
    leftCents -= use.amountCents;
    return { state, ...use };
  });
}

const coveredOf = (shares: readonly Share[]): number => shares.reduce((sum, { amountCents }) => sum + amountCents, 0);

const toAppliedCards = (tenders: readonly Tender[], shares: readonly Share[]): AppliedCard[] =>
  tenders.map(({ id, lastFour, balanceCents, expiryDate }, index) => ({
    ...{ id, lastFour, balanceCents, expiryDate },
    ...(shares[index] as Share),
  }));

function toPlan(
  { totalCents }: CartView,
  cards: readonly AppliedCard[],
  tenders: readonly Tender[],
  currency: string,
): PaymentPlan {
  const parts = cards.flatMap(({ id, lastFour, amountCents }, index) => {
    const sealedCard = tenders[index]?.sealedCard ?? "";
    return amountCents > 0 ? [{ tenderId: id, lastFour, amountCents, sealedCard }] : [];
  });
  const coveredCents = coveredOf(cards);
  return {
    parts,
    shown: shownPlan(currency, totalCents, parts),
    coveredCents: cents(coveredCents),
    remainderCents: cents(totalCents - coveredCents),
    hasExpired: cards.some((card) => card.state === "expired"),
    hasSettling: cards.some((card) => card.state === "settling"),
  };
}

/** Returns a short text that differs if the total, a card's part, or the remainder that a page shows differs. */
function shownPlan(currency: string, totalCents: number, parts: PaymentPlan["parts"]): string {
  // A card that is applied again, since it had expired on the cart, is the same to the shopper.
  const cards = parts.map(({ lastFour, amountCents }) => `${lastFour} ${amountCents}`).sort();
  const text = [currency, totalCents, ...cards].join("\n");
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
