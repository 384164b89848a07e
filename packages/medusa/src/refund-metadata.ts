/** Where a refund in Medusa names the charges that go back for it. */
export const REFUND_CHARGES = "giftcard_charges";

/** Under this name a refund in Medusa says which refund of many orders made it. */
export const REFUND_RUN = "giftcard_run";

/** Which charges a refund's metadata names; undefined where it names none, and any may go back. */
export function referencesOf(metadata: unknown): string[] | undefined {
  const named = (metadata as Record<string, unknown> | null | undefined)?.[REFUND_CHARGES];
  return Array.isArray(named) ? named.filter((one) => typeof one === "string") : undefined;
}
