/** Amounts in whole cents by VAT rate, in percent such as `19`. */
export type ByRate = ReadonlyMap<string, number>;

/** How many decimals of a percent a rate has. */
const RATE_SCALE = 10_000;

/**
 * Returns the VAT that a gross amount contains, in whole cents, rounding half a cent away from zero.
 * @param rate in percent, such as `19`
 */
export function vatCents(grossCents: number, rate: string): number {
  const scaled = Math.round(Number(rate) * RATE_SCALE);
  const cents = Math.round((Math.abs(grossCents) * scaled) / (100 * RATE_SCALE + scaled));
  return grossCents < 0 ? 0 - cents : cents;
}

export const totalOf = (amounts: ByRate): number => [...amounts.values()].reduce((sum, cents) => sum + cents, 0);

/** Subtracts amounts, without those that are equal. */
export function difference(after: ByRate, before: ByRate): Map<string, number> {
  const rates = new Set([...before.keys(), ...after.keys()]);
  const all = [...rates].map((rate): [string, number] => [rate, (after.get(rate) ?? 0) - (before.get(rate) ?? 0)]);
  return new Map(all.filter(([, cents]) => cents !== 0));
}

/**
 * Splits a total in proportion to amounts. It rounds the running sum, so that the parts add up to the total.
 * @param amounts must not add up to 0
 */
export function inProportion(amounts: ByRate, totalCents: number): Map<string, number> {
  const sum = totalOf(amounts);
  let [running, sharedCents] = [0, 0];
  return new Map(
    [...amounts].map(([rate, cents]) => {
      running += cents;
      const untilCents = Math.round((running * totalCents) / sum);
      const part = untilCents - sharedCents;
      sharedCents = untilCents;
      return [rate, part];
    }),
  );
}
