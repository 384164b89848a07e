import { createHash } from "node:crypto";

/** The part of an order that an applied card pays. */
interface CardPart {
  readonly tenderId: string;
  readonly amountCents: number;
}

/**
 * Returns a short text for the amounts that a page shows: the total, the part of each card, and so the remainder. It differs
 * if one of them differs.
 */
export function shownPlan(currency: string, totalCents: number, parts: readonly CardPart[]): string {
  const cards = parts.map(({ tenderId, amountCents }) => `${tenderId} ${amountCents}`).sort();
  const digest = createHash("sha256")
    .update([currency, totalCents, ...cards].join("\n"))
    .digest("base64url");
  return digest.slice(0, 22);
}
