/** The name of the plugin in Vendure's log. */
export const LOGGER = "GiftcardPlugin";
/** The code of the payment method handler, by which an administrator finds it. */
export const HANDLER_CODE = "giftcard";
/** The token of the plugin's settings in Nest's injector. */
export const SETTINGS = Symbol("GIFTCARD_SETTINGS");

/** Logs a failure without waiting for anything. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown failure");
