const euro = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

/** Shows an amount that Medusa gives, in euro. */
export const formatEuro = (amount: number | null | undefined): string => euro.format(amount ?? 0);

/** Shows an amount in cents. */
export const formatCents = (cents: number): string => euro.format(cents / 100);
