"use server"

import { sdk } from "@lib/config"
import { getAuthHeaders, getCacheTag } from "@lib/data/cookies"
import { revalidateTag } from "next/cache"

/** Medusa's own method, with which a page places an order that asks for nothing more. */
const NOTHING_TO_PAY = "pp_system_default"

/**
 * Makes the cart's payment session anew, for what the gift cards leave to pay, and has the page read the cart again.
 *
 * @param cartId the cart
 * @param providerId the method that the shopper has chosen, if any
 * @param isCovered whether the gift cards pay all of it
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
    // The page shows no method as chosen then, and the shopper chooses one.
    console.error("gift cards: no payment session was made", error)
  }
  revalidateTag(await getCacheTag("carts"))
}
