"use client"

import { convertToLocale } from "@lib/util/money"
import CartTotals from "@modules/common/components/cart-totals"
import type { ComponentProps } from "react"
import { useGiftCards } from "./use-gift-cards"

/** The storefront's totals of a cart, with the remainder below them. */
const CartTotalsWithGiftCards = ({
  totals,
}: ComponentProps<typeof CartTotals>) => {
  const paid = useGiftCards()

  const money = (cents: number) =>
    convertToLocale({
      amount: cents / 100,
      currency_code: totals.currency_code,
    })

  return (
    <div>
      <CartTotals totals={totals} />
      {paid && paid.coveredCents > 0 && (
        <dl
          className="flex flex-col gap-y-2 txt-medium mt-4 pb-4 border-b border-gray-200"
          data-testid="gift-cards-totals"
        >
          <div className="flex items-center justify-between text-ui-fg-subtle">
            <dt>Gift cards</dt>
            <dd>−{money(paid.coveredCents)}</dd>
          </div>
          <div className="flex items-center justify-between text-ui-fg-base">
            <dt>Left to pay</dt>
            <dd className="txt-xlarge-plus">{money(paid.remainderCents)}</dd>
          </div>
        </dl>
      )}
    </div>
  )
}

export default CartTotalsWithGiftCards
