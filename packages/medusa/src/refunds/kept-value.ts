import type { OrderLine } from "@giftcard-pay/checkout";
import { type ChargePieces, returnedUnits } from "@giftcard-pay/checkout/plugin";
import type { BigNumberInput } from "@medusajs/framework/types";
import { MathBN } from "@medusajs/framework/utils";
import { fromCents, isSameAmount, toCents } from "../amount.js";
import { shareCents } from "../cart/order-lines.js";
import { type ItemHistory, type KeptUnits, keepFirst } from "./kept-units.js";

/** How many units of each line are back, by the line's id. */
export type UnitsBack = ReadonlyMap<string, number>;

/** @param when `backSoon`: once the requested returns are received */
export const backOf = (items: readonly ItemHistory[], when: "back" | "backSoon" = "back"): UnitsBack =>
  new Map(items.map((history) => [history.item.id, history[when]]));

/** Computes the lines of an order as they were sold, if nobody recorded them when it was placed. */
export const linesAsPlaced = (items: readonly ItemHistory[], placedCents: number): OrderLine[] =>
  shareCents(
    items
      .filter(({ placed }) => placed > 0)
      .map(({ item, placed, paidEach }) => ({
        id: item.id,
        quantity: placed,
        total: MathBN.mult(paidEach, placed),
      })),
    placedCents,
  );

/**
 * Values what the buyer keeps: units of the order's own lines by their recorded cents, and what was added or priced anew
 * since by Medusa's figures.
 */
export function valuer(
  { items, lines }: { readonly items: readonly ItemHistory[]; readonly lines: readonly OrderLine[] },
  charges: readonly ChargePieces[],
) {
  const historyById = new Map(items.map((history) => [history.item.id, history]));
  const keptUnits = ({ item, kept, sold }: ItemHistory, back: UnitsBack) =>
    keepFirst(kept, sold - (back.get(item.id) ?? 0));
  /** Returns the units of the order's own lines among those that are back. */
  const returnedOf = (back: UnitsBack): Map<string, number> =>
    new Map(
      lines.map((line) => {
        const history = historyById.get(line.id);
        const kept = history ? keptUnits(history, back).filter(({ isPlaced }) => isPlaced) : [];
        return [line.id, Math.max(0, line.quantity - countOf(kept))];
      }),
    );
  /** Returns the value of what the buyer keeps once these units are back, in cents. */
  const keptCents = (back: UnitsBack): number => {
    const pieces = returnedUnits(lines, charges, returnedOf(back));
    const kept = items.map((history) => ({ ...history, kept: keptUnits(history, back) }));
    const evened = evenedOf(
      kept.filter(({ placed }) => placed === 0),
      pieces.map((piece) => ({ cents: piece.cents, each: historyById.get(piece.line)?.paidEach ?? 0 })),
    );
    const paidCents = lines.reduce((sum, { totalCents }) => sum + totalCents, 0);
    const backCents = pieces.reduce((sum, { cents }) => sum + cents, 0);
    return paidCents - backCents + toCents(MathBN.sum(0, ...kept.map(changeOf), ...evened));
  };
  return { returnedOf, keptCents };
}

const countOf = (units: readonly KeptUnits[]) => units.reduce((sum, { count }) => sum + count, 0);

/** Returns by how much kept units differ from what was paid for them; all of it for added ones. In major units. */
const changeOf = ({ kept, paidEach }: ItemHistory) =>
  MathBN.sum(
    0,
    ...kept.map(({ count, each, isPlaced }) => MathBN.mult(count, MathBN.sub(each, isPlaced ? paidEach : 0))),
  );

/**
 * Lists by how much added units have to differ from Medusa's figures so that an even exchange owes nothing: a unit
 * gets the cents of a returned one that had the same price, fractions of a cent included.
 * @returns the differences, in major units
 */
function evenedOf(
  added: readonly ItemHistory[],
  returned: readonly { readonly cents: number; readonly each: BigNumberInput }[],
) {
  const left = [...returned];
  const evenUnits = ({ count, each }: KeptUnits) => {
    const same = left.filter((piece) => isSameAmount(piece.each, each)).slice(0, count);
    for (const piece of same) left.splice(left.indexOf(piece), 1);
    return same.map(({ cents }) => MathBN.sub(fromCents(cents), each));
  };
  return added.flatMap(({ kept }) => kept.flatMap(evenUnits));
}
