import type { Purchase } from "./shop.js";

/** Where among a card's charges a fault comes. */
export const eachCharge = ["the first", "the middle", "the last"] as const;

/** What a call or a statement meets that leaves somebody in doubt, or stands still past its lease. */
export const doubts = ["cut-before", "cut-after", "hold"] as const;

/** Which of a card's charges a point is at, where it says so. */
const AT = /(?:^|, )the (first|middle|last)$/;

/** What a point is, at whichever charge. */
export const basePoint = (point: string) => point.replace(AT, "");

/** How many of the card's charges pass before, or of those of them that are on their way. */
export function skipOf(
  point: string,
  { cards }: Purchase,
  count = cards[0]?.chargesCents.length ?? 1,
): number {
  const last = count - 1;
  const which = AT.exec(point)?.[1];
  return which === "last" ? last : which === "middle" ? Math.floor(last / 2) : 0;
}
