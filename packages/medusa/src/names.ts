export const PACKAGE = "@giftcard-pay/medusa";

/** The module's name, and its key in Medusa's container. */
export const GIFTCARD_MODULE = "giftcard";

/** The payment provider's id in Medusa: its identifier, and the id that `withGiftcard` gives it. */
export const PROVIDER_ID = "pp_giftcard_giftcard";

/** Medusa's own method for manual payments. It takes no money, and every shop has it. */
export const MANUAL_PROVIDER_ID = "pp_system_default";

/**
 * Metadata key of a session, and of a cart that needs none: the plan that the page has shown. A completion can have it in its
 * body.
 */
export const PLAN = "giftcard_plan";

/** The key of Medusa's lock with which recovery runs that cancel orders exclude each other. */
export const RECOVERY_LOCK = "giftcard_recovery";

/** Keys of the context that the plugin gives its payment provider through Medusa's payment module. */
export const LAST_FOUR = "giftcard_last_four";
export const OWNER = "giftcard_owner";
