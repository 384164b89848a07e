import { sdk } from "@lib/config"
import { paymentInfoMap } from "@lib/constants"
import { getAuthHeaders } from "@lib/data/cookies"
import { convertToLocale } from "@lib/util/money"
import type { HttpTypes } from "@medusajs/types"
import { Heading } from "@modules/common/components/ui"

/** How an order was paid, in whole cents. */
type PaidBy = {
  cards: { lastFour: string; amountCents: number; refundedCents: number }[]
  others: { providerId: string; amountCents: number; refundedCents: number }[]
}

/** All payments of an order: the gift cards by their last four digits, then the other methods. */
const OrderPayments = async ({ order }: { order: HttpTypes.StoreOrder }) => {
  const paidBy = await retrievePaidBy(order.id)

  if (!paidBy) {
    return null
  }

  const parts = [
    ...paidBy.cards.map(({ lastFour, ...part }) => ({
      title: `Gift card ending in ${lastFour}`,
      ...part,
    })),
    ...paidBy.others.map(({ providerId, ...part }) => ({
      title: paymentInfoMap[providerId]?.title ?? providerId,
      ...part,
    })),
  ]
  const money = (cents: number) =>
    convertToLocale({
      amount: cents / 100,
      currency_code: order.currency_code,
    })

  return (
    <div>
      <Heading level="h2" className="flex flex-row text-3xl-regular my-6">
        Payment
      </Heading>
      <ul
        className="flex flex-col gap-y-2 txt-medium text-ui-fg-subtle"
        data-testid="order-payments"
      >
        {parts.map(({ title, amountCents, refundedCents }, index) => (
          <li key={index} className="flex justify-between gap-x-4">
            <span>{title}</span>
            <span>
              {money(amountCents)}
              {refundedCents > 0 && ` (${money(refundedCents)} refunded)`}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Returns null if the shop does not respond or the order is in another currency. The page then omits the payments. */
async function retrievePaidBy(orderId: string): Promise<PaidBy | null> {
  const headers = { ...(await getAuthHeaders()) }

  return sdk.client
    .fetch<PaidBy>(`/store/giftcard-pay/orders/${orderId}`, {
      headers,
      cache: "no-store",
    })
    .catch(() => null)
}

export default OrderPayments
