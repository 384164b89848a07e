/** Where a refund in Medusa names the charges that go back for it. */
export const REFUND_CHARGES = "giftcard_charges";

/** Under this name a refund in Medusa says which refund of many orders made it. */
export const BULK_REFUND = "giftcard_bulk_refund";

/** Which charges a refund's metadata names; undefined where it names none, and any may go back. */
export function referencesOf(metadata: unknown): string[] | undefined {
  const named = (metadata as Record<string, unknown> | null | undefined)?.[REFUND_CHARGES];
  return Array.isArray(named) ? named.filter((one) => typeof one === "string") : undefined;
}

/**
 * Under this name a refund in Medusa says how many units of each line are back once it is made, by the line's id: of all
 * refunds that name a line, the highest number counts. So a unit is refunded once, in however many parts and by whomever.
 */
export const REFUND_UNITS = "giftcard_units";

/** Under this name a refund in Medusa says how many of its cents weren't owed yet when a person gave them back. */
export const REFUND_AHEAD = "giftcard_ahead_cents";

/** Reads the units that a refund names; null if it names none. */
export function unitsOfRefund(units: unknown): ReadonlyMap<string, number> | null {
  if (typeof units !== "object" || units === null || Array.isArray(units)) return null;
  return new Map(
    Object.entries(units).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );
}
