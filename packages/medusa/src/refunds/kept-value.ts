import type { OrderLine } from "@giftcard-pay/checkout";
import { type ChargePieces, returnedUnits } from "@giftcard-pay/checkout/plugin";
import type { BigNumberInput } from "@medusajs/framework/types";
import { MathBN } from "@medusajs/framework/utils";
import { fromCents, isSameAmount, toCents } from "../amount.js";
import { shareCents } from "../cart/order-lines.js";
import type { BookedItem, ItemVersion } from "../medusa-tables/order-items.js";
import type { BookedRefund } from "../medusa-tables/order-refund.js";

/** Units of an item that the buyer keeps, and that have the same price. */
interface KeptUnits {
  readonly count: number;
  /** The current price of each, in major units with tax and its share of discounts. */
  readonly each: BigNumberInput;
  /** Whether they were part of the order when it was placed. */
  readonly isPlaced: boolean;
}

/** The history of an item's units since the order was placed. */
export interface ItemHistory {
  readonly item: BookedItem;
  /** How many units were in the order when it was placed; 0 if an edit or exchange added the item. */
  readonly placed: number;
  /** The price of each of these, in major units with tax and its share of discounts. */
  readonly paidEach: BigNumberInput;
  /** How many units were sold in total, including those that are back. */
  readonly sold: number;
  /** How many are back: returned, exchanged, removed by an edit, or named by a refund. */
  readonly back: number;
  /** How many are back once the requested returns are received. */
  readonly backSoon: number;
  /** Oldest first. */
  readonly kept: readonly KeptUnits[];
}

/** Returns Medusa's price of each unit of an item, after discounts. */
const eachOf = ({ price, discount, quantity }: ItemVersion) =>
  quantity === 0 ? price : MathBN.sub(price, MathBN.div(discount, quantity));

/** Removes units until this many are left. The latest are the first to come back. */
function keepFirst(units: readonly KeptUnits[], count: number): KeptUnits[] {
  let left = Math.max(0, count);
  return units.flatMap((unit) => {
    const kept = Math.min(left, unit.count);
    left -= kept;
    return kept > 0 ? [{ ...unit, count: kept }] : [];
  });
}

/**
 * Follows an item's units through the versions of its order and the refunds that name units, oldest first. A unit that
 * was added after another one came back has Medusa's price of that moment, not the amount that the other one was refunded.
 * @param time the moment at which the history ends; default now
 */
export function historyOf(item: BookedItem, refunds: readonly BookedRefund[], time?: string): ItemHistory {
  const isPast = ({ createdAt }: { readonly createdAt: string }) => time === undefined || !isBefore(time, createdAt);
  const versions = item.versions.filter(isPast);
  const [first] = versions;
  const placed = first?.isPlaced ? first.quantity : 0;
  const counts = refunds.filter(isPast).map(({ createdAt, units }) => ({ createdAt, count: units?.get(item.id) ?? 0 }));
  let [sold, back, kept]: [number, number, KeptUnits[]] = [0, 0, []];
  const removeBack = (count: number) => {
    // The same unit may be back by Medusa's figures and by a refund.
    back = Math.max(back, count);
    kept = keepFirst(kept, sold - back);
  };
  for (const [at, version] of versions.entries()) {
    const before = versions[at - 1];
    for (const { createdAt, count } of counts)
      if (isBefore(createdAt, version.createdAt)) removeBack(Math.min(sold, count));
    const added = Math.max(0, version.quantity - (before?.quantity ?? 0));
    removeBack(sold + added - version.kept);
    kept = pricedAnew(kept, version, before);
    if (added > 0)
      kept = [...kept, { count: added, each: eachAdded(version, before, added), isPlaced: placed > 0 && at === 0 }];
    sold += added;
  }
  for (const { count } of counts) removeBack(Math.min(sold, count));
  if (item.removedAt !== null && isPast({ createdAt: item.removedAt })) removeBack(sold);
  const returned = sold - (versions.at(-1)?.kept ?? 0) + (versions.at(-1)?.requested ?? 0);
  const backSoon = Math.max(back, Math.min(sold, returned));
  return { item, placed, paidEach: first?.isPlaced ? eachOf(first) : 0, sold, back, backSoon, kept };
}

export const isBefore = (time: string, other: string): boolean => Date.parse(time) < Date.parse(other);

/** Prices units by a new version. Without new discounts, it only adds the change of the price. */
function pricedAnew(units: readonly KeptUnits[], version: ItemVersion, before: ItemVersion | undefined) {
  if (version.isDiscountedAnew) return units.map((unit) => ({ ...unit, each: eachOf(version) }));
  const more = MathBN.sub(version.price, before?.price ?? version.price);
  return units.map((unit) => ({ ...unit, each: MathBN.add(unit.each, more) }));
}

/** Returns what Medusa counts for each unit that a version added: what the item costs more in it, its new price apart. */
function eachAdded(version: ItemVersion, before: ItemVersion | undefined, added: number) {
  if (!before || version.isDiscountedAnew) return eachOf(version);
  const eachBefore = MathBN.add(eachOf(before), MathBN.sub(version.price, before.price));
  const more = MathBN.sub(MathBN.mult(eachOf(version), version.kept), MathBN.mult(eachBefore, version.kept - added));
  return MathBN.div(more, added);
}

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
