export const PACKAGE = "@giftcard-pay/medusa";

/** The module's name, and its key in Medusa's container. */
export const GIFTCARD_MODULE = "giftcard";

/** The payment provider's id in Medusa: its identifier, and the id that `withGiftcard` gives it. */
export const PROVIDER_ID = "pp_giftcard_giftcard";

/** Medusa's own method for manual payments. It takes no money, and every shop has it. */
export const MANUAL_PROVIDER_ID = "pp_system_default";

/**
 * Metadata key of a session, and of a cart that needs none: the plan that the page has shown. A completion can have it in its
 * body.
 */
export const PLAN = "giftcard_plan";

/** The key of Medusa's lock with which recovery runs that cancel orders exclude each other. */
export const RECOVERY_LOCK = "giftcard_recovery";

/** Keys of the context that the plugin gives its payment provider through Medusa's payment module. */
export const LAST_FOUR = "giftcard_last_four";
export const OWNER = "giftcard_owner";

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
