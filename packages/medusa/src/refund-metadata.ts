/** Metadata key of a refund in Medusa: the references of the charges that it reverses. */
export const REFUND_CHARGES = "giftcard_charges";

/** Metadata key of a refund in Medusa: the bulk refund that made it. */
export const BULK_REFUND = "giftcard_bulk_refund";

/** Reads the charges that a refund's metadata names; undefined if it names none, and any may be reversed. */
export function referencesOf(metadata: unknown): string[] | undefined {
  const named = (metadata as Record<string, unknown> | null | undefined)?.[REFUND_CHARGES];
  return Array.isArray(named) ? named.filter((reference) => typeof reference === "string") : undefined;
}

/**
 * Metadata key of a refund in Medusa: how many units of each line are back once it is made, by the line's id. If
 * several refunds name a line, the highest number counts. So a unit is refunded once, in any number of parts and by
 * anyone.
 */
export const REFUND_UNITS = "giftcard_units";

/** Metadata key of a refund in Medusa: how many of its cents weren't owed yet when a person refunded them. */
export const REFUND_AHEAD = "giftcard_ahead_cents";

/** Reads the units that a refund names; null if it names none. */
export function unitsOfRefund(units: unknown): ReadonlyMap<string, number> | null {
  if (typeof units !== "object" || units === null || Array.isArray(units)) return null;
  return new Map(Object.entries(units).filter((entry): entry is [string, number] => Number.isFinite(entry[1])));
}
