/**
 * Splits a card's part of an order into a charge for each unit of the order's lines. The issuer reverses a charge only as
 * a whole, so a unit can be refunded exactly only if it has charges of its own.
 */
import type { OrderLine, Piece } from "../store/order-line.js";

/** A charge of a card's part, with the units that it pays for. */
export interface LaidCharge {
  readonly amountCents: number;
  /** In the order of their units. */
  readonly pieces: readonly Piece[];
}

/** Whether a value is an amount: whole cents, zero or more. */
export const isCents = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** Returns the number of units of a line: its quantity, or one if that is not a positive whole number. */
export const unitCount = ({ quantity }: OrderLine): number =>
  Number.isInteger(quantity) && quantity >= 1 ? quantity : 1;

/**
 * Returns all units of the lines in order, each as a piece with all of its cents. A line's total is spread evenly over its
 * units: any number of last units add up to their exact share, within less than a cent. Units of no cents are left out.
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
 * Assigns the units of an order to the cards' parts: the first card pays the first units, and the next card continues from
 * there. Another method pays the units that are left. A unit between two payers is split.
 *
 * @param partsCents the parts of the cards, in order
 * @param lines the order's lines; those that are returned last, such as shipping, come last
 * @param maxCharges the maximum number of charges per card; if a card has more pieces, some charges pay several of them
 * @returns the charges of each card, in the order of their first piece; they add up to its part
 * @throws {RangeError} if the parts are more than the lines, two lines have the same id, or a number is invalid
 */
export function layCharges(
  partsCents: readonly number[],
  lines: readonly OrderLine[],
  maxCharges: number,
): LaidCharge[][] {
  if (!Number.isInteger(maxCharges) || maxCharges < 1) throw new RangeError("A card needs a charge or more.");
  if (!partsCents.every(isCents)) throw new RangeError("A card's part isn't whole cents, zero or more.");
  if (new Set(lines.map(({ id }) => id)).size < lines.length) throw new RangeError("Two lines have the same id.");
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
 * Joins pieces until there are at most `maxCharges` charges. It joins pieces of equal amounts first, starting with the
 * largest group, and of equally large groups with the smallest amount. A charge that is left alone in such a group can
 * then refund any of the group's units, and the joined amount stays small.
 */
function joinPieces(pieces: readonly Piece[], maxCharges: number): Piece[][] {
  let charges = pieces.map((piece) => [piece]);
  const join = (from: readonly Piece[][]) => {
    const last = from.slice(maxCharges - charges.length - 1);
    const members = new Set(last.flat());
    const joined = pieces.filter((piece) => members.has(piece));
    charges = charges.flatMap((charge) => (charge === last[0] ? [joined] : last.includes(charge) ? [] : [charge]));
  };
  const groups = new Map<number, Piece[][]>();
  for (const charge of charges)
    for (const { cents } of charge) groups.set(cents, [...(groups.get(cents) ?? []), charge]);
  const largestFirst = [...groups].sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || a - b);
  for (const [, group] of largestFirst) if (charges.length > maxCharges && group.length > 1) join(group);
  if (charges.length > maxCharges) join(charges);
  return charges;
}
