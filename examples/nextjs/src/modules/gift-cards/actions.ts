"use server"

import { sdk } from "@lib/config"
import { getAuthHeaders, getCacheTag } from "@lib/data/cookies"
import { revalidateTag } from "next/cache"

/** Medusa's own payment provider, for an order with nothing left to pay. */
const NOTHING_TO_PAY = "pp_system_default"

/**
 * Creates a new payment session for the remainder of the cart, and makes the page load the cart again.
 *
 * @param cartId the cart
 * @param providerId the method that the shopper has chosen, if any
 * @param isCovered whether the gift cards pay the whole cart
 */
export async function renewPayment(
  cartId: string,
  providerId: string | undefined,
  isCovered: boolean
): Promise<void> {
  const method = isCovered ? NOTHING_TO_PAY : providerId
  try {
    if (method) {
      const headers = { ...(await getAuthHeaders()) }
      const { cart } = await sdk.store.cart.retrieve(
        cartId,
        { fields: "id,*payment_collection" },
        headers
      )
      await sdk.store.payment.initiatePaymentSession(
        cart,
        { provider_id: method },
        {},
        headers
      )
    }
  } catch (error) {
    // The page then shows no method as chosen, and the shopper can choose again.
    console.error("gift cards: no payment session was made", error)
  }
  revalidateTag(await getCacheTag("carts"))
}
