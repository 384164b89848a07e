const euro = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

/** Shows an amount of Medusa's in whole cents. Its totals have residue of dividing a tax out: 22.455 may be 22.45499999. */
export const formatEuro = (amount: number | null | undefined): string =>
  formatCents(Math.round(Math.round((amount ?? 0) * 1e6) / 1e4));

/** Shows an amount in cents. */
export const formatCents = (cents: number): string => euro.format(cents / 100);
