import { createRequire } from "node:module";
import path from "node:path";
import { OrderService, type RuntimeVendureConfig } from "@vendure/core";
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
  const mollie = classes.find(({ name }) => name === "MolliePlugin");
  if (mollie && "assertInTransaction" in OrderService.prototype && isWithoutTransaction())
    throw new Error(
      "GiftcardPlugin: this release of MolliePlugin can't record payments in this release of Vendure: its webhook fails, " +
        "because addPaymentToOrder needs a transaction. Update @vendure/payments-plugin, or use Vendure 3.5.",
    );
}

/** Whether the shop's release of MolliePlugin adds payments without a transaction. 3.5.6 is the last that does. */
function isWithoutTransaction(): boolean {
  try {
    const { version } = createRequire(path.join(process.cwd(), "shop.js"))("@vendure/payments-plugin/package.json");
    return version.localeCompare("3.5.6", "en", { numeric: true }) <= 0;
  } catch {
    return false;
  }
}
