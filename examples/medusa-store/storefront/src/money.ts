const euro = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

/** Rounds an amount of Medusa's to whole cents. Its totals have rounding residue: 22.455 may be 22.45499999. */
const toCents = (amount: number | null | undefined): number => Math.round(Math.round((amount ?? 0) * 1e6) / 1e4);

/** Formats an amount of Medusa's in whole cents. */
export const formatEuro = (amount: number | null | undefined): string => formatCents(toCents(amount));

/** Formats a cart's discounts, so that the lines above its total add up to it. */
export const formatDiscount = ({ original_total, total }: { original_total: number; total: number }): string =>
  `−${formatCents(toCents(original_total) - toCents(total))}`;

/** Formats an amount in cents. */
export const formatCents = (cents: number): string => euro.format(cents / 100);
