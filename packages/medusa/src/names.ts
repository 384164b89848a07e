/** The module's name, and its key in Medusa's container. */
export const GIFTCARD_MODULE = "giftcard";

/** The payment provider's id in Medusa: its identifier, and the id that `withGiftcard` gives it. */
export const PROVIDER_ID = "pp_giftcard_giftcard";

/** A remainder's session says in its metadata how many cents the cards were to pay. */
export const COVERED_CENTS = "giftcard_covered_cents";
