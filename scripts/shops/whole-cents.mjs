/**
 * Buyers pay whole cents. Medusa's totals have fractions of a cent (10 % off 24.95 is 22.455), and residue of dividing a tax
 * out of a price (22.454999999999999885). Tests and demos read its amounts here, independently of the plugin.
 */

/** The significant decimals of a cent. */
const DECIMALS = 4;

/**
 * Rounds a Medusa amount half up to whole cents, ignoring its floating-point residue.
 *
 * @param {number} amount in euro
 * @returns {number} cents
 */
export function inCents(amount) {
  const scale = 10 ** DECIMALS;
  const exact = Math.round(Math.abs(amount) * 100 * scale);
  const cents = Math.floor(exact / scale + 0.5);
  return amount < 0 ? 0 - cents : cents;
}

/**
 * Returns the same rounding as an SQL expression.
 *
 * @param {string} amount in euro
 */
export const centsSql = (amount) => `round(round((${amount}) * 100, ${DECIMALS}))::int`;
