import type { CartSummary } from "@giftcard-pay/widget";

/** The code of the gift card payment method in Vendure: the plugin's option `paymentMethodCode`. */
export const GIFT_CARDS = "giftcard";

/** The address of `[...path]/route.ts`. */
export const ENDPOINT = "/gift-cards";

/** The amounts of an order as the page shows them, in whole cents. */
export type Shown = {
  orderCode: string;
  totalCents: number;
  coveredCents: number;
  remainderCents: number;
};

/** Why an order was not placed. */
export type Refusal = {
  /** A code of `<giftcard-pay>`, or `amounts_changed`. */
  code: string;
  /** Vendure's reason, if there is no code for it. */
  message?: string;
};

export type { CartSummary };

/** Returns the data that a payment method of your shop needs, as `placeOrder` of the checkout's actions does. */
export function metadataOf(methodCode: string): Record<string, unknown> {
  if (methodCode !== "standard-payment") return {};
  return { shouldDecline: false, shouldError: false, shouldErrorOnSettle: false };
}
