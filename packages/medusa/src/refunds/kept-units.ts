import type { BigNumberInput } from "@medusajs/framework/types";
import { MathBN } from "@medusajs/framework/utils";
import type { BookedItem, ItemVersion } from "../medusa-tables/order-items.js";
import type { BookedRefund } from "../medusa-tables/order-refund.js";

/** Units of an item that the buyer keeps, and that have the same price. */
export interface KeptUnits {
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
export function keepFirst(units: readonly KeptUnits[], count: number): KeptUnits[] {
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
