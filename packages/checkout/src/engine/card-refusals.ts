import type { Charge } from "../store/charge.js";
import type { ShopErrorCode } from "../storefront.js";
import { cardRefusals } from "./errors.js";

/** The reasons of charges that took nothing, or not everything, and the codes that the shopper gets for them. */
const reasons: Readonly<Record<string, ShopErrorCode>> = {
  ...cardRefusals,
  balance_changed: "balance_changed",
  not_sent: "service_unavailable",
};

/**
 * Returns why the last attempt to charge each card of a cart failed, by the tender's id. A card whose charge was reversed
 * for another reason, such as a declined remainder, has none.
 * @param charges all charges of the cart, newest first
 */
export function refusalsOf(charges: readonly Charge[]): Map<string, ShopErrorCode> {
  const lastPayments = new Map<string, string>();
  const refusals = new Map<string, ShopErrorCode>();
  for (const { tenderId, externalId, state, reason } of charges) {
    if (!lastPayments.has(tenderId)) lastPayments.set(tenderId, externalId);
    const isLast = lastPayments.get(tenderId) === externalId;
    const code = isLast && (state === "refused" || state === "reversed") ? reasons[reason ?? ""] : undefined;
    if (code !== undefined) refusals.set(tenderId, code);
  }
  return refusals;
}
