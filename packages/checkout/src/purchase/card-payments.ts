import { type Cents, cents } from "@giftcard-pay/client";
import type { Charge } from "../store/charge.js";

/** A card's payment of an order: one charge, or several that were begun together. */
export interface CardPayment {
  readonly externalId: string;
  readonly lastFour: string;
  readonly amountCents: Cents;
  readonly charges: readonly Charge[];
}

/** Returns the sum that these charges were asked to take, in cents. */
export const amountOf = (charges: readonly Charge[]): Cents =>
  cents(charges.reduce((sum, { amountCents }) => sum + amountCents, 0));

/** Groups charges by their payments, in the order of each payment's first charge. */
export function groupByPayment(charges: readonly Charge[]): CardPayment[] {
  const groups = new Map<string, [Charge, ...Charge[]]>();
  for (const charge of charges) {
    const group = groups.get(charge.externalId);
    if (group) group.push(charge);
    else groups.set(charge.externalId, [charge]);
  }
  return [...groups].map(([externalId, group]) => ({
    externalId,
    lastFour: group[0].lastFour,
    amountCents: amountOf(group),
    charges: group,
  }));
}
