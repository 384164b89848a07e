"use server"

import { sdk } from "@lib/config"
import {
  getAuthHeaders,
  getCacheTag,
  getCartId,
  removeCartId,
} from "@lib/data/cookies"
import { revalidateTag } from "next/cache"
import { redirect } from "next/navigation"
import { backendUrl, publishableKey } from "./shop"

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
  await startSession(cartId, method, () => true)
}

/**
 * Creates a payment session, and makes the page load the cart again.
 *
 * @param isNeeded receives the sessions that the cart has
 */
async function startSession(
  cartId: string,
  method: string | undefined,
  isNeeded: (sessions: { status: string }[]) => boolean
): Promise<void> {
  try {
    if (method) {
      const headers = { ...(await getAuthHeaders()) }
      const { cart } = await sdk.store.cart.retrieve(
        cartId,
        {
          fields: "id,*payment_collection,*payment_collection.payment_sessions",
        },
        headers
      )
      if (isNeeded(cart.payment_collection?.payment_sessions ?? []))
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

/** Why no order was placed. */
export type Refusal = {
  /** The HTTP status; 200 if the payment was declined, 0 if the shop did not respond. */
  status: number
  code?: string
  message?: string
  /** The item that is sold out. */
  title?: string
}

/**
 * Completes the cart once. If that places the order, redirects to its confirmation. If the payment failed, its session
 * may have ended: then the cart gets a new one, so that the shopper can try again. Without it, the storefront's button
 * for Stripe would crash.
 *
 * It returns a refusal instead of throwing it, since a production build hides from the browser what a server action
 * throws. It calls Medusa without the SDK, since the SDK drops the code of a refusal.
 *
 * @param cartId the cart. Default: that of the shopper
 * @param providerId the method that the shopper has chosen, if any
 * @param plan the amounts that the page shows
 */
export async function completeCart(
  cartId: string | undefined,
  providerId: string | undefined,
  plan: string | undefined
): Promise<Refusal> {
  const id = cartId || (await getCartId())
  if (!id) return { status: 404, code: "cart_not_found" }
  let response: Response
  try {
    response = await fetch(`${backendUrl}/store/carts/${id}/complete`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-publishable-api-key": publishableKey,
        ...(await getAuthHeaders()),
      },
      body: JSON.stringify({ giftcard_plan: plan }),
      cache: "no-store",
    })
  } catch (error) {
    console.error("gift cards: the shop did not respond", error)
    return { status: 0, code: "offline" }
  }
  const answer = await response.json().catch(() => ({}))
  if (answer.type === "order") {
    revalidateTag(await getCacheTag("carts"))
    revalidateTag(await getCacheTag("orders"))
    await removeCartId()
    const country = answer.order.shipping_address?.country_code?.toLowerCase()
    redirect(`/${country}/order/${answer.order.id}/confirmed`)
  }
  const { status } = response
  // While another call completes the cart, its session is in use: a new one would replace it. After an unknown outcome, the
  // remainder isn't decided: a new session would be for the whole cart.
  if (status !== 409 && answer.code !== "outcome_unknown")
    await startSession(id, providerId, (sessions) =>
      sessions.every(({ status }) => status !== "pending")
    )
  if (answer.type === "cart")
    return { status, code: answer.error?.type, message: answer.error?.message }
  return {
    status,
    code: answer.code,
    message: answer.message,
    title: answer.title,
  }
}
