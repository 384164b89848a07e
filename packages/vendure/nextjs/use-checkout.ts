"use client";

import { useCheckout as useStarterCheckout } from "@/app/checkout/checkout-provider";
import { GIFT_CARDS } from "./shop";
import { useGiftCards } from "./state";

/**
 * The checkout for the payment and review steps. Gift cards are not in the list of payment methods, unless they pay the
 * whole order: then they are the chosen method.
 */
export function useCheckout(): ReturnType<typeof useStarterCheckout> {
  const checkout = useStarterCheckout();
  const { isCovered } = useGiftCards();
  const paymentMethods = checkout.paymentMethods.filter(({ code }) => (code === GIFT_CARDS) === isCovered);
  const only = paymentMethods.length === 1 ? paymentMethods[0].code : null;
  return {
    ...checkout,
    paymentMethods,
    selectedPaymentMethodCode: isCovered ? GIFT_CARDS : (checkout.selectedPaymentMethodCode ?? only),
  };
}
