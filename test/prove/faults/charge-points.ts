import type { Purchase } from "./shop.js";

/** The positions among a card's charges at which a fault can occur. */
export const eachCharge = ["the first", "the middle", "the last"] as const;

/** Faults that leave the outcome of a call or statement unknown, or delay it past its lease. */
export const doubts = ["cut-before", "cut-after", "hold"] as const;

/** The charge that a point names, if it names one. */
const AT = /(?:^|, )the (first|middle|last)$/;

/** Returns a point without the charge that it names. */
export const basePoint = (point: string) => point.replace(AT, "");

/** Returns how many charges pass before the fault, out of `count`: by default, all charges of the first card. */
export function skipOf(point: string, { cards }: Purchase, count = cards[0]?.chargesCents.length ?? 1): number {
  const last = count - 1;
  const which = AT.exec(point)?.[1];
  return which === "last" ? last : which === "middle" ? Math.floor(last / 2) : 0;
}
