import type { GiftcardPay } from "@giftcard-pay/widget"
import { completeCart, type Refusal } from "./actions"
import { chosenKey } from "./shop"

/** How long "Place order" waits while the shop has more orders than it can handle at once. */
const PATIENCE_MS = 60_000

const DELAY_MS = 1000

/**
 * Places the order, in place of the storefront's own function: the shopper learns why it failed. If the shop asks to
 * call again, or a response was lost, calls again.
 *
 * @throws {Error} with the reason in the language of `<giftcard-pay>`; the page shows it at its button
 */
export async function placeOrder(cartId?: string): Promise<void> {
  const tag = document.querySelector<GiftcardPay>("giftcard-pay")
  // An entered card isn't applied, or a payment with a card isn't finished. The tag shows what to do.
  if (tag && !tag.reportValidity()) throw new Error(tag.validationMessage)
  const chosen = tag && sessionStorage.getItem(chosenKey(tag.cart))
  // If the amounts are others by now, nothing is charged.
  const plan = tag?.summary?.plan
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    const refusal = await completeCart(cartId, chosen ?? undefined, plan).catch(
      ifLost
    )
    // The page moves on to the confirmation.
    if (!refusal) return
    const mayRepeat = refusal.status === 409 || refusal.status === 0
    if (!mayRepeat || Date.now() > until)
      throw new Error(await explain(refusal, tag))
    await new Promise((resolve) => setTimeout(resolve, DELAY_MS))
  }
}

/** Handles a call that did not reach Next.js. Anything else, such as its redirect, is thrown again. */
function ifLost(error: unknown): Refusal {
  if (error instanceof TypeError) return { status: 0, code: "offline" }
  throw error
}

/** Returns the text for a refusal. A card that was refused also shows it. */
async function explain(
  { code, message, title }: Refusal,
  tag: GiftcardPay | null
): Promise<string> {
  await tag?.refresh()
  const text = (code && tag?.textOf(code)) || message || "Something went wrong."
  return title ? `${title}: ${text}` : text
}
