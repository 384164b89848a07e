"use client"

import Review from "@modules/checkout/components/review"
import { Heading } from "@modules/common/components/ui"
import { useSearchParams } from "next/navigation"
import type { ComponentProps } from "react"
import { useGiftCards } from "./use-gift-cards"

/**
 * The storefront's last step, without its button while a payment with a gift card is not finished: the order would be paid a
 * second time, in another way. The tag asks the shop again, and offers to do without the card.
 */
const ReviewWithGiftCards = (props: ComponentProps<typeof Review>) => {
  const isOpen = useSearchParams().get("step") === "review"
  const isSettling = useGiftCards()?.settling

  if (!isOpen || !isSettling) return <Review {...props} />
  return (
    <div data-testid="gift-cards-wait">
      <Heading level="h2" className="flex flex-row text-3xl-regular mb-6">
        Review
      </Heading>
      <p role="status" className="txt-medium">
        The payment with your gift card isn&apos;t finished yet, so your order
        isn&apos;t placed. This can take a few minutes: this page shows the
        result by itself.
      </p>
    </div>
  )
}

export default ReviewWithGiftCards
