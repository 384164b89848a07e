/** Which charges of an order go back for a refund, each of them as a whole, and what its other method gives back. */
import type { OrderLine, Piece } from "../store/order-line.js";
import type { RefundRule } from "../store/purchase-store.js";
import { isCents, unitCount, unitsOf } from "./charge-layout.js";

/** A charge that can still go back, as a whole. */
export interface OpenCharge {
  readonly reference: string;
  readonly lastFour: string;
  readonly cents: number;
  /** What it pays of which units; null where the card was charged as a whole. */
  readonly pieces: readonly Piece[] | null;
}

/** What tells which units a charge pays, whether or not it went back. */
export type ChargePieces = Pick<OpenCharge, "pieces">;

/** What is to go back, and what can. */
export interface RefundWish {
  /** What is to go back in all, above 0. */
  readonly amountCents: number;
  /** What is open on the cards, in the order in which it was charged. */
  readonly charges: readonly OpenCharge[];
  /** What the other method still has, and can give back to the cent. */
  readonly otherCents: number;
  /** The order's lines, as the cards' parts were laid over them. Needed with `returned`. */
  readonly lines?: readonly OrderLine[] | undefined;
  /** How many units of each line came back, by the line's id: all returns together, this one included. */
  readonly returned?: ReadonlyMap<string, number> | undefined;
  /** The charges that went back before. Needed with `returned`: they too tell which units were joined in a charge. */
  readonly reversed?: readonly ChargePieces[] | undefined;
  /** Default "as-paid". */
  readonly rule?: RefundRule | undefined;
}

/** How an amount goes back. */
export interface RefundSplit {
  readonly amountCents: number;
  /** What goes back to the cards, in the order in which it was charged. */
  readonly charges: readonly OpenCharge[];
  /** What the other method gives back. */
  readonly otherCents: number;
}

/** Where the money of a refund goes, in cents. */
export interface RefundShares {
  /** In all. */
  readonly amountCents: number;
  /** To each card, in the order in which they were charged. */
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: number }[];
  /** To the remainder's method. */
  readonly remainderCents: number;
}

/** Whether the amount can go back to the cent, and how; else what can. */
export type RefundPlan =
  | { readonly isPossible: true; readonly split: RefundSplit }
  /** The nearest lower amount above 0, then the nearest higher one, as far as there are any. */
  | { readonly isPossible: false; readonly nearest: readonly RefundSplit[] };

/** For each sum in cents that some charges add up to, the one of them that was charged first; null for no charges. */
type Sums = readonly (OpenCharge | null | undefined)[];

/**
 * Splits a refund into whole charges and what the other method gives back, by the rule. Charges of units that came back
 * go first; of several ways, the one goes first that leaves the earliest charges alone.
 *
 * By `as-paid`, units that were charged by line give the cards exactly what the cards paid of them. The other method gives
 * more only if less is asked of it than it has, and the cards get more only if it has too little left. If a charge pays
 * several units, this can be impossible: then nothing is possible but the nearest sums of charges.
 *
 * Its time grows with the number of charges times their cents: a second or so at 1000 charges and 5000.00 euro.
 *
 * @throws {RangeError} if an amount isn't whole cents, a charge is there twice, or `returned` comes without `lines`
 */
export function planRefund(wish: RefundWish): RefundPlan {
  const { amountCents, charges, otherCents, returned, rule = "as-paid" } = checked(wish);
  const back = backOf(wish);
  const sums = sumsOf(charges);
  const returnedSums = sumsOf(charges.filter(back.isBack));
  const otherSums = sumsOf(charges.filter((charge) => !back.isBack(charge)));
  const cardsCents = sums.length - 1;
  const isByUnits = rule === "as-paid" && returned !== undefined;

  /** The charges that make up this sum. */
  const chargesOf = (toCards: number): readonly OpenCharge[] => {
    let returnedCents = Math.min(toCards, returnedSums.length - 1);
    while (!has(returnedSums, returnedCents) || !has(otherSums, toCards - returnedCents)) returnedCents -= 1;
    const chosen = new Set([
      ...madeOf(returnedSums, returnedCents),
      ...madeOf(otherSums, toCards - returnedCents),
    ]);
    return charges.filter((charge) => chosen.has(charge));
  };
  const split = (toCards: number, fromOther: number): RefundSplit => ({
    amountCents: toCards + fromOther,
    charges: chargesOf(toCards),
    otherCents: fromOther,
  });

  if (isByUnits && back.paidCents !== null) {
    const leastCents = Math.max(back.paidCents, amountCents - otherCents);
    const wantedCents = Math.min(leastCents, amountCents, cardsCents);
    // If the other method has too little left, the cards may get more.
    const isShort = leastCents > back.paidCents;
    const more = isShort ? closest(sums, wantedCents, wantedCents, amountCents) : undefined;
    const toCards = more ?? wantedCents;
    const fromOther = Math.min(otherCents, amountCents - toCards);
    if (toCards + fromOther === amountCents && has(sums, toCards))
      return { isPossible: true, split: split(toCards, fromOther) };
    const below = closest(sums, toCards, 0, toCards);
    const above = closest(sums, toCards, toCards + 1, cardsCents);
    const ways = [below, above].flatMap((cents) => (cents === undefined ? [] : split(cents, fromOther)));
    return { isPossible: false, nearest: ways.filter((one) => one.amountCents > 0) };
  }

  /** What the cards are to get of an amount. */
  const wanted = (cents: number): number => {
    if (rule === "cards-first") return cents;
    if (rule === "other-first" || isByUnits) return 0;
    return (cents * cardsCents) / (cardsCents + otherCents);
  };
  const splitOf = (cents: number): RefundSplit | undefined => {
    const toCards = closest(sums, wanted(cents), cents - otherCents, cents);
    return toCards === undefined ? undefined : split(toCards, cents - toCards);
  };
  const whole = splitOf(amountCents);
  if (whole) return { isPossible: true, split: whole };
  // A sum makes each amount possible from itself to itself with all of the other method. The nearest are such ends.
  const below = closest(sums, amountCents, 0, amountCents - otherCents - 1);
  const above = closest(sums, amountCents, amountCents + 1, cardsCents);
  const nearest = [below === undefined ? 0 : below + otherCents, above ?? 0].map((cents) =>
    cents > 0 ? splitOf(cents) : undefined,
  );
  return { isPossible: false, nearest: nearest.filter((one) => one !== undefined) };
}

/**
 * The units that are taken to have come back, each with all of its cents. Of a line, units that are in no joined charge
 * come back before those that are, and later ones before earlier ones. That order stays the same for an order's life,
 * so a further return only adds units.
 *
 * @param lines the order's lines, as the cards' parts were laid over them
 * @param charges all charges that the order ever had, whether or not they went back
 * @param returned how many units of each line came back, by the line's id; a line whose quantity isn't whole is one
 *   unit, which came back once all of that quantity did
 * @throws {RangeError} where a line's total isn't whole cents, zero or more
 */
export function returnedUnits(
  lines: readonly OrderLine[],
  charges: readonly ChargePieces[],
  returned: ReadonlyMap<string, number>,
): Piece[] {
  const joined = new Set(
    charges.flatMap(({ pieces }) => (pieces && pieces.length > 1 ? pieces.map(unitKey) : [])),
  );
  return lines.flatMap((line) => {
    const units = unitsOf([line]).toReversed();
    const isJoined = (unit: Piece) => joined.has(unitKey(unit));
    const inTurn = [...units.filter((unit) => !isJoined(unit)), ...units.filter(isJoined)];
    const share = ((returned.get(line.id) ?? 0) * unitCount(line)) / line.quantity;
    // Quantities that were added up as fractions miss the whole by a hair.
    return inTurn.slice(0, Math.max(0, Math.floor(share + 1e-9)));
  });
}

/**
 * What units that come back are worth, in cents.
 *
 * @param lines as for {@link returnedUnits}
 * @param charges as for {@link returnedUnits}
 * @param returning how many units of each line come back now, by the line's id
 * @param returnedBefore how many came back before
 * @throws {RangeError} where a line's total isn't whole cents, zero or more
 */
export function valueOfUnits(
  lines: readonly OrderLine[],
  charges: readonly ChargePieces[],
  returning: ReadonlyMap<string, number>,
  returnedBefore: ReadonlyMap<string, number>,
): number {
  const together = lines.map(
    ({ id }) => [id, (returnedBefore.get(id) ?? 0) + (returning.get(id) ?? 0)] as const,
  );
  const worthOf = (returned: ReadonlyMap<string, number>) => totalOf(returnedUnits(lines, charges, returned));
  return worthOf(new Map(together)) - worthOf(returnedBefore);
}

const unitKey = ({ line, unit }: Piece): string => `${unit} ${line}`;

const totalOf = (amounts: readonly { readonly cents: number }[]): number =>
  amounts.reduce((sum, { cents }) => sum + cents, 0);

function checked(wish: RefundWish): RefundWish {
  const { amountCents, charges, otherCents, returned, lines } = wish;
  if (![amountCents, otherCents, ...charges.map(({ cents }) => cents)].every(isCents) || amountCents === 0)
    throw new RangeError("A refund is of whole cents above 0, and what is open of whole cents.");
  if (new Set(charges.map(({ reference }) => reference)).size < charges.length)
    throw new RangeError("A charge is there twice.");
  if (returned && !lines) throw new RangeError("What came back can't be told without the order's lines.");
  return wish;
}

/** Which open charges pay units that came back alone, and what the cards still have of those units' cents. */
function backOf({ charges, reversed = [], lines = [], returned = new Map() }: RefundWish) {
  const every = [...charges, ...reversed];
  const back = new Set(returnedUnits(lines, every, returned).map(unitKey));
  const isUnitBack = (piece: Piece) => back.has(unitKey(piece));
  const piecesOf = (some: readonly ChargePieces[]) => some.flatMap(({ pieces }) => pieces ?? []);
  const goneCents = totalOf(piecesOf(reversed));
  const paidCents = Math.max(0, totalOf(piecesOf(every).filter(isUnitBack)) - goneCents);
  return {
    isBack: ({ pieces }: OpenCharge) => pieces?.every(isUnitBack) ?? false,
    /** null if a card was charged as a whole: nobody can tell which units it paid. */
    paidCents: every.every(({ pieces }) => pieces !== null) ? paidCents : null,
  };
}

/** Goes through the charges from the last: the first to complete a sum leaves the earlier ones alone. */
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

/** The charges that make a sum. */
function madeOf(sums: Sums, cents: number): OpenCharge[] {
  const charge = sums[cents];
  return charge ? [charge, ...madeOf(sums, cents - charge.cents)] : [];
}

/** The sum from one amount to another that is closest to a third, the larger of two. */
function closest(sums: Sums, toCents: number, fromCents: number, untilCents: number): number | undefined {
  let found: number | undefined;
  for (let cents = Math.max(0, fromCents); cents <= Math.min(untilCents, sums.length - 1); cents += 1) {
    if (!has(sums, cents)) continue;
    if (found === undefined || Math.abs(cents - toCents) <= Math.abs(found - toCents)) found = cents;
  }
  return found;
}
