/**
 * How a card's part of an order is charged: as a charge for each unit of the order's lines. The issuer gives a charge
 * back only as a whole, so a unit that comes back can be refunded exactly where it has charges of its own.
 */
import type { OrderLine, Piece } from "../store/order-line.js";

/** A charge of a card's part, and what it pays. */
export interface LaidCharge {
  readonly amountCents: number;
  /** In the order of their units. */
  readonly pieces: readonly Piece[];
}

/** Whether the value is an amount: whole cents, zero or more. */
export const isCents = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** How many units a line has: one where its quantity isn't a whole number from 1. */
export const unitCount = ({ quantity }: OrderLine): number =>
  Number.isInteger(quantity) && quantity >= 1 ? quantity : 1;

/**
 * All units of the lines, in order, each as a piece with all of its cents. A line's total is spread evenly over its units:
 * any number of the last units are together less than a cent from their exact share. A unit of no cents is left out.
 *
 * @throws {RangeError} if a total isn't whole cents, zero or more
 */
export function unitsOf(lines: readonly OrderLine[]): Piece[] {
  return lines.flatMap((line) => {
    const { id, totalCents } = line;
    if (!isCents(totalCents)) throw new RangeError("A line's total isn't whole cents, zero or more.");
    const count = unitCount(line);
    const centsUntil = (unit: number) => Math.round((totalCents * unit) / count);
    if (totalCents < count)
      return Array.from({ length: totalCents }, (_, index) => {
        const unit = Math.ceil(((2 * index + 1) * count) / (2 * totalCents));
        return { line: id, unit, cents: 1 };
      });
    return Array.from({ length: count }, (_, index) => ({
      line: id,
      unit: index + 1,
      cents: centsUntil(index + 1) - centsUntil(index),
    }));
  });
}

/**
 * Lays each card's part over the units of an order: the first card pays the first units, the next one goes on where it
 * stopped, and what is left after the last is another method's. A unit at such a border is split.
 *
 * @param partsCents what each card pays, in order
 * @param lines the order's lines; those that come back last, such as shipping, stand last
 * @param maxCharges how many charges a card has at most; with more pieces than that, some charges pay several of them
 * @returns the charges of each card, in the order of their first piece; they add up to its part
 * @throws {RangeError} where the parts are more than the lines, two lines have one id, or a number makes no sense
 */
export function layCharges(
  partsCents: readonly number[],
  lines: readonly OrderLine[],
  maxCharges: number,
): LaidCharge[][] {
  if (!Number.isInteger(maxCharges) || maxCharges < 1) throw new RangeError("A card needs a charge or more.");
  if (!partsCents.every(isCents)) throw new RangeError("A card's part isn't whole cents, zero or more.");
  if (new Set(lines.map(({ id }) => id)).size < lines.length)
    throw new RangeError("Two lines have the same id.");
  const units = unitsOf(lines).values();
  let left: Piece | undefined;
  return partsCents.map((partCents) => {
    const pieces: Piece[] = [];
    for (let openCents = partCents; openCents > 0; ) {
      left ??= units.next().value;
      if (!left) throw new RangeError("The cards' parts are more than the lines.");
      const cents = Math.min(openCents, left.cents);
      pieces.push({ ...left, cents });
      openCents -= cents;
      left = cents < left.cents ? { ...left, cents: left.cents - cents } : undefined;
    }
    return joinPieces(pieces, maxCharges).map((joined) => ({
      amountCents: joined.reduce((sum, { cents }) => sum + cents, 0),
      pieces: joined,
    }));
  });
}

/**
 * Joins pieces until there are few enough charges. Equal amounts come first, the largest group of them, and of equally
 * large groups the one of the smallest amount: any of its single charges then stands for any of its units, and little
 * is bound together.
 */
function joinPieces(pieces: readonly Piece[], maxCharges: number): Piece[][] {
  let charges = pieces.map((piece) => [piece]);
  const join = (from: readonly Piece[][]) => {
    const last = from.slice(maxCharges - charges.length - 1);
    const members = new Set(last.flat());
    const joined = pieces.filter((piece) => members.has(piece));
    charges = charges.flatMap((charge) =>
      charge === last[0] ? [joined] : last.includes(charge) ? [] : [charge],
    );
  };
  const groups = new Map<number, Piece[][]>();
  for (const charge of charges)
    for (const { cents } of charge) groups.set(cents, [...(groups.get(cents) ?? []), charge]);
  const largestFirst = [...groups].sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || a - b);
  for (const [, group] of largestFirst) if (charges.length > maxCharges && group.length > 1) join(group);
  if (charges.length > maxCharges) join(charges);
  return charges;
}
