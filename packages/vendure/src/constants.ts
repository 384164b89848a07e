import { Logger } from "@vendure/core";

/** The name of the plugin in Vendure's log. */
export const LOGGER = "GiftcardPlugin";
/** The code of the payment method handler, by which an administrator finds it. */
export const HANDLER_CODE = "giftcard";
/** The token of the plugin's settings in Nest's injector. */
export const SETTINGS = Symbol("GIFTCARD_SETTINGS");

/** Logs an error's message. @param orderCode the order that it is about */
export function logFailure(error: unknown, orderCode?: string): void {
  const message = error instanceof Error ? error.message : "unknown failure";
  Logger.error(orderCode === undefined ? message : `Order ${orderCode}: ${message}`, LOGGER);
}
