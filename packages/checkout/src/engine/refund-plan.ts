import type { Cents } from "@giftcard-pay/client";
/** Plans a refund: which charges of an order are reversed, each as a whole, and how much of its remainder is refunded. */
import type { OrderLine, Piece } from "../store/order-line.js";
import type { RefundRule } from "../store/purchase-store.js";
import { isCents, unitCount, unitsOf } from "./charge-layout.js";

/** A charge that can still be reversed, as a whole. */
export interface OpenCharge {
  readonly reference: string;
  readonly lastFour: string;
  readonly cents: number;
  /** The units that it pays for; null if the card was charged as a whole. */
  readonly pieces: readonly Piece[] | null;
}

/** The units of a charge, whether or not it was reversed. */
export type ChargePieces = Pick<OpenCharge, "pieces">;

/** A refund to plan, with everything that can be refunded. */
export interface RefundWish {
  /** The amount to refund, above 0. */
  readonly amountCents: number;
  /** The charges that can still be reversed, in the order in which they were made. */
  readonly charges: readonly OpenCharge[];
  /** The part of the remainder that can still be refunded, to the cent. */
  readonly remainderCents: number;
  /** The order's lines, as the cards were charged for them. Required with `returned`. */
  readonly lines?: readonly OrderLine[] | undefined;
  /** The number of returned units of each line, by the line's id: of all returns, including this one. */
  readonly returned?: ReadonlyMap<string, number> | undefined;
  /** The charges that were reversed before. Required with `returned`: they also show which units shared a charge. */
  readonly reversed?: readonly ChargePieces[] | undefined;
  /** Default "as-paid". */
  readonly rule?: RefundRule | undefined;
}

/** The split of a refund. */
export interface RefundSplit {
  readonly amountCents: number;
  /** The charges to reverse, in the order in which they were made. */
  readonly charges: readonly OpenCharge[];
  /** The part of the remainder that is refunded. */
  readonly remainderCents: number;
}

/** The shares of a refund, in cents. */
export interface RefundShares {
  /** The whole refund. */
  readonly amountCents: Cents;
  /** By card, in the order in which the cards were charged. */
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: Cents }[];
  /** The part that the remainder method refunds. */
  readonly remainderCents: Cents;
}

/** The split of a refund, or the nearest amounts if the exact amount can't be refunded. */
export type RefundPlan =
  | { readonly isPossible: true; readonly split: RefundSplit }
  /** The nearest lower amount above 0, and the nearest higher one, if there are any. */
  | { readonly isPossible: false; readonly nearest: readonly RefundSplit[] };

/** By sum in cents: the earliest of the charges that add up to it; null for the empty sum; undefined if there are none. */
type Sums = readonly (OpenCharge | null | undefined)[];

/**
 * Splits a refund into whole charges and a part of the remainder, by the rule. It prefers charges of returned
 * units, and among equal choices the one that keeps the earliest charges.
 *
 * With `as-paid`, the cards get exactly what they paid for the returned units, if the units were charged by line. The cards
 * get more only if too little of the remainder is left, and less only if whole charges don't add up to it, and the remainder
 * has paid that part of the same units. If a charge pays for several units, an exact split can be impossible; then
 * only the nearest sums of charges are possible.
 *
 * The time is proportional to the number of charges times their cents: about a second for 1000 charges of 5000.00 euro.
 *
 * @throws {RangeError} if an amount isn't whole cents, a charge occurs twice, or `returned` is given without `lines`
 */
export function planRefund(wish: RefundWish): RefundPlan {
  const { amountCents, charges, remainderCents, returned, rule = "as-paid" } = checked(wish);
  const back = backOf(wish);
  const sums = sumsOf(charges);
  const returnedSums = sumsOf(charges.filter(back.isBack));
  const otherSums = sumsOf(charges.filter((charge) => !back.isBack(charge)));
  const cardsCents = sums.length - 1;
  const isByUnits = rule === "as-paid" && returned !== undefined;

  /** Returns the charges that add up to an amount. */
  const chargesOf = (toCards: number): readonly OpenCharge[] => {
    let returnedCents = Math.min(toCards, returnedSums.length - 1);
    while (!has(returnedSums, returnedCents) || !has(otherSums, toCards - returnedCents)) returnedCents -= 1;
    const chosen = new Set([
      ...chargesOfSum(returnedSums, returnedCents),
      ...chargesOfSum(otherSums, toCards - returnedCents),
    ]);
    return charges.filter((charge) => chosen.has(charge));
  };
  const split = (toCards: number, fromRemainder: number): RefundSplit => ({
    amountCents: toCards + fromRemainder,
    charges: chargesOf(toCards),
    remainderCents: fromRemainder,
  });

  if (isByUnits && back.paidCents !== null) {
    const leastCents = Math.max(back.paidCents, amountCents - remainderCents);
    const wantedCents = Math.min(leastCents, amountCents, cardsCents);
    // If too little of the remainder is left, the cards may get more.
    const isShort = leastCents > back.paidCents;
    const more = isShort ? closest(sums, wantedCents, wantedCents, amountCents) : undefined;
    const less = closest(sums, wantedCents, amountCents - back.remainderCents, wantedCents);
    const toCards = more ?? less ?? wantedCents;
    const fromRemainder = Math.min(remainderCents, amountCents - toCards);
    if (toCards + fromRemainder === amountCents && has(sums, toCards))
      return { isPossible: true, split: split(toCards, fromRemainder) };
    const below = closest(sums, toCards, 0, toCards);
    const above = closest(sums, toCards, toCards + 1, cardsCents);
    const ways = [below, above].flatMap((cents) => (cents === undefined ? [] : split(cents, fromRemainder)));
    return { isPossible: false, nearest: ways.filter((way) => way.amountCents > 0) };
  }

  /** Returns how much of an amount the cards should get. */
  const wanted = (cents: number): number => {
    if (rule === "cards-first") return cents;
    if (rule === "remainder-first" || isByUnits) return 0;
    return (cents * cardsCents) / (cardsCents + remainderCents);
  };
  const splitOf = (cents: number): RefundSplit | undefined => {
    const toCards = closest(sums, wanted(cents), cents - remainderCents, cents);
    return toCards === undefined ? undefined : split(toCards, cents - toCards);
  };
  const whole = splitOf(amountCents);
  if (whole) return { isPossible: true, split: whole };
  // With a sum of charges, every amount is possible from that sum up to that sum plus all of the remainder. The nearest
  // possible amounts are the ends of these ranges.
  const below = closest(sums, amountCents, 0, amountCents - remainderCents - 1);
  const above = closest(sums, amountCents, amountCents + 1, cardsCents);
  const nearest = [below === undefined ? 0 : below + remainderCents, above ?? 0].map((cents) =>
    cents > 0 ? splitOf(cents) : undefined,
  );
  return { isPossible: false, nearest: nearest.filter((split) => split !== undefined) };
}

/**
 * Returns the units that count as returned, each with all of its cents. Within a line, units with charges of their own are
 * returned before units that share a charge, and later units before earlier ones. This order never changes, so a further
 * return only adds units.
 *
 * @param lines the order's lines, as the cards were charged for them
 * @param charges all charges that the order ever had, reversed or not
 * @param returned the number of returned units of each line, by the line's id; a line with a fractional quantity is one
 *   unit, which is returned once all of the quantity is
 * @throws {RangeError} if a line's total isn't whole cents, zero or more
 */
export function returnedUnits(
  lines: readonly OrderLine[],
  charges: readonly ChargePieces[],
  returned: ReadonlyMap<string, number>,
): Piece[] {
  const joined = new Set(charges.flatMap(({ pieces }) => (pieces && pieces.length > 1 ? pieces.map(unitKey) : [])));
  return lines.flatMap((line) => {
    const units = unitsOf([line]).toReversed();
    const isJoined = (unit: Piece) => joined.has(unitKey(unit));
    const inTurn = [...units.filter((unit) => !isJoined(unit)), ...units.filter(isJoined)];
    const share = ((returned.get(line.id) ?? 0) * unitCount(line)) / line.quantity;
    // Sums of fractional quantities have rounding errors.
    return inTurn.slice(0, Math.max(0, Math.floor(share + 1e-9)));
  });
}

/**
 * Returns the value of units that are returned, in cents.
 *
 * @param lines as for {@link returnedUnits}
 * @param charges as for {@link returnedUnits}
 * @param returning the number of units of each line that are returned now, by the line's id
 * @param returnedBefore the number of those that were returned before
 * @throws {RangeError} if a line's total isn't whole cents, zero or more
 */
export function valueOfUnits(
  lines: readonly OrderLine[],
  charges: readonly ChargePieces[],
  returning: ReadonlyMap<string, number>,
  returnedBefore: ReadonlyMap<string, number>,
): number {
  const together = lines.map(({ id }) => [id, (returnedBefore.get(id) ?? 0) + (returning.get(id) ?? 0)] as const);
  const worthOf = (returned: ReadonlyMap<string, number>) => totalOf(returnedUnits(lines, charges, returned));
  return worthOf(new Map(together)) - worthOf(returnedBefore);
}

const unitKey = ({ line, unit }: Piece): string => `${unit} ${line}`;

const totalOf = (amounts: readonly { readonly cents: number }[]): number =>
  amounts.reduce((sum, { cents }) => sum + cents, 0);

function checked(wish: RefundWish): RefundWish {
  const { amountCents, charges, remainderCents, returned, lines } = wish;
  if (![amountCents, remainderCents, ...charges.map(({ cents }) => cents)].every(isCents) || amountCents === 0)
    throw new RangeError("A refund has to be whole cents above 0, and open amounts have to be whole cents.");
  if (new Set(charges.map(({ reference }) => reference)).size < charges.length)
    throw new RangeError("A charge occurs twice.");
  if (returned && !lines) throw new RangeError("Returned units need the order's lines.");
  return wish;
}

/** Finds the open charges that pay only for returned units, and how much of these units each side still has paid. */
function backOf({ charges, reversed = [], lines = [], returned = new Map(), remainderCents }: RefundWish) {
  const every = [...charges, ...reversed];
  const units = returnedUnits(lines, every, returned);
  const back = new Set(units.map(unitKey));
  const isUnitBack = (piece: Piece) => back.has(unitKey(piece));
  const piecesOf = (some: readonly ChargePieces[]) => some.flatMap(({ pieces }) => pieces ?? []);
  const goneCents = totalOf(piecesOf(reversed));
  const byCards = totalOf(piecesOf(every).filter(isUnitBack));
  const paidCents = Math.max(0, byCards - goneCents);
  const byRemainder = lines.reduce((sum, { totalCents }) => sum + totalCents, 0) - totalOf(piecesOf(every));
  const remainderGoneCents = Math.max(0, byRemainder - remainderCents);
  return {
    /** The part of the remainder that has paid for these units, and can still refund. */
    remainderCents: Math.min(remainderCents, Math.max(0, totalOf(units) - byCards - remainderGoneCents)),
    isBack: ({ pieces }: OpenCharge) => pieces?.every(isUnitBack) ?? false,
    /** null if a card was charged as a whole: it is unknown which units it paid for. */
    paidCents: every.every(({ pieces }) => pieces !== null) ? paidCents : null,
  };
}

/** Finds all sums of charges. It starts with the last charge, so that a sum uses late charges if it can. */
function sumsOf(charges: readonly OpenCharge[]): Sums {
  const sums: (OpenCharge | null | undefined)[] = new Array(totalOf(charges) + 1);
  sums[0] = null;
  let mostCents = 0;
  for (const charge of charges.toReversed()) {
    for (let cents = mostCents; cents >= 0; cents -= 1)
      if (has(sums, cents) && !has(sums, cents + charge.cents)) sums[cents + charge.cents] = charge;
    mostCents += charge.cents;
  }
  return sums;
}

const has = (sums: Sums, cents: number): boolean => sums[cents] !== undefined;

/** Returns the charges that add up to a sum. */
function chargesOfSum(sums: Sums, cents: number): OpenCharge[] {
  const charge = sums[cents];
  return charge ? [charge, ...chargesOfSum(sums, cents - charge.cents)] : [];
}

/** Returns the sum within a range that is closest to an amount, the larger one if two are equally close. */
function closest(sums: Sums, toCents: number, fromCents: number, untilCents: number): number | undefined {
  let found: number | undefined;
  for (let cents = Math.max(0, fromCents); cents <= Math.min(untilCents, sums.length - 1); cents += 1) {
    if (!has(sums, cents)) continue;
    if (found === undefined || Math.abs(cents - toCents) <= Math.abs(found - toCents)) found = cents;
  }
  return found;
}
