/** The plugin's package, by which a configuration names it. */
export const PACKAGE = "@giftcard-pay/medusa";

/** The module's name, and its key in Medusa's container. */
export const GIFTCARD_MODULE = "giftcard";

/** The payment provider's id in Medusa: its identifier, and the id that `withGiftcard` gives it. */
export const PROVIDER_ID = "pp_giftcard_giftcard";

/** Medusa's own method for what is settled by hand: it takes no money, and every shop has it. */
export const MANUAL_PROVIDER_ID = "pp_system_default";

/** A session says in its metadata by which cards, and how many cents of each, the cart was to be paid when it was made. */
export const PLAN = "giftcard_plan";

/**
 * Under this name the plugin tells the payment provider whose session it makes. It stands in the session's context, which
 * only code of this process gives: none of Medusa's routes passes one on.
 */
export const LAST_FOUR = "giftcard_last_four";

/** What the runs of recovery that cancel orders wait for each other by, as Medusa's lock. */
export const RECOVERY_LOCK = "giftcard_recovery";
