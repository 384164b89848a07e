import type { PaymentView } from "../../scripts/shops/vendure-shopper.mjs";

/** Returns the cents that a method holds by Vendure's own records. */
export function bookedCents(payments: readonly PaymentView[], method: string): number {
  const live = payments.filter((one) => one.method === method && /^(Authorized|Settled)$/.test(one.state));
  return live.reduce(
    (sum, { amount, refunds }) =>
      sum + amount - refunds.reduce((back, { state, total }) => back + (state === "Failed" ? 0 : total), 0),
    0,
  );
}
