import type { RuntimeVendureConfig } from "@vendure/core";
import { isOutstandingAware } from "./outstanding.js";

/** The class of a Vendure plugin, with the static options that Vendure's own plugins have. */
type PluginClass = { readonly name: string; readonly options?: Record<string, unknown> };

/**
 * Refuses a configuration in which money could be lost or collected twice.
 *
 * @throws {Error} naming the part to change
 */
export function checkConfig({ entityOptions, plugins }: RuntimeVendureConfig): void {
  const precision = entityOptions.moneyStrategy?.precision ?? 2;
  if (precision !== 2)
    throw new Error(
      `GiftcardPlugin: entityOptions.moneyStrategy has a precision of ${precision}. Gift cards pay whole cents.`,
    );
  const classes = plugins.map((plugin) => (typeof plugin === "function" ? plugin : plugin.module) as PluginClass);
  const stripe = classes.find(({ name }) => name === "StripePlugin");
  if (stripe && !isOutstandingAware(stripe.options))
    throw new Error(
      "GiftcardPlugin: StripePlugin charges the total of an order, also if gift cards have paid a part of it. " +
        "Use StripePlugin.init(outstandingByStripe({ … })) from @giftcard-pay/vendure.",
    );
}
