"use client"

import "@giftcard-pay/widget/giftcard-pay.css"
import { GiftcardPay } from "@giftcard-pay/widget/react"
import { Button, clx, Heading } from "@modules/common/components/ui"
import { usePathname, useRouter, useSearchParams } from "next/navigation"
import {
  type ComponentProps,
  type ComponentRef,
  type ReactNode,
  useEffect,
  useRef,
  useState,
  useTransition,
} from "react"
import { renewPayment } from "./actions"
import { chosenKey } from "./shop"

type TotalEvent = Parameters<
  NonNullable<ComponentProps<typeof GiftcardPay>["onTotal"]>
>[0]

type GiftCardsProps = {
  cartId: string
  /** The cart's total. When it changes, the tag loads the cart again. */
  total: number
  /** The cart's payment session, if any. */
  session: { providerId: string; amountCents: number } | undefined
  endpoint: string
  publishableKey: string
  /** The payment methods. They are hidden while the cards pay the whole cart. */
  children: ReactNode
}

/** Whether the shopper has unfolded them. When Stripe is chosen, the storefront mounts everything again. */
let isUnfolded = false

const GiftCards = ({
  cartId,
  total,
  session,
  endpoint,
  publishableKey,
  children,
}: GiftCardsProps) => {
  const router = useRouter()
  const pathname = usePathname()
  const step = useSearchParams().get("step")
  const tag = useRef<ComponentRef<typeof GiftcardPay>>(null)
  const fold = useRef<HTMLDetailsElement>(null)
  const shownTotal = useRef(total)
  // A session for less than the total means that the cart has a card.
  const [isOpenAtFirst] = useState(
    isUnfolded || (session && session.amountCents < Math.round(total * 100))
  )
  const [isCovered, setCovered] = useState(session?.amountCents === 0)
  // True until the page has the new session.
  const [isRenewing, startRenewing] = useTransition()

  useEffect(() => {
    // Ignore a session of 0.00: the shopper did not choose it, and the page renders again while the cards cover the cart.
    if (session?.amountCents)
      sessionStorage.setItem(chosenKey(cartId), session.providerId)
  }, [cartId, session?.providerId, session?.amountCents])

  useEffect(() => {
    if (shownTotal.current === total) return
    shownTotal.current = total
    void tag.current?.refresh()
  }, [total])

  const onTotal = ({ detail }: TotalEvent) => {
    const { remainderCents, covered, settling, summary } = detail
    if (fold.current && summary.cards.length > 0) fold.current.open = true
    // The remainder isn't decided, and the shopper has not agreed to what it is meanwhile.
    if (settling) return
    const chosen = sessionStorage.getItem(chosenKey(cartId)) ?? undefined
    setCovered(covered)
    const neededCents = covered || chosen ? remainderCents : undefined
    if (session?.amountCents !== neededCents) {
      startRenewing(() => renewPayment(cartId, chosen, covered))
    }
  }

  const isOpen = step === "payment" || step === "review"

  return (
    <div data-testid="gift-cards" aria-busy={isRenewing}>
      {/* The tag's buttons are as black as the storefront's. */}
      <div
        className={clx(
          "[--giftcard-pay-accent:#000]",
          isOpen ? "mb-8 pb-8 border-b border-gray-200" : "hidden"
        )}
      >
        <details
          ref={fold}
          open={isOpenAtFirst}
          onToggle={({ currentTarget }) => {
            isUnfolded = currentTarget.open
          }}
        >
          <summary className="cursor-pointer">
            <Heading level="h2" className="inline text-xl-regular">
              Have a gift card?
            </Heading>
          </summary>
          <GiftcardPay
            ref={tag}
            className="mt-4"
            endpoint={endpoint}
            cart={cartId}
            publishableKey={publishableKey}
            onTotal={onTotal}
          />
        </details>
      </div>
      {isCovered && step === "payment" && (
        <Button
          size="large"
          isLoading={isRenewing}
          data-testid="gift-cards-continue-button"
          onClick={() =>
            router.push(`${pathname}?step=review`, { scroll: false })
          }
        >
          Continue to review
        </Button>
      )}
      {isCovered && (
        <div className="mt-8 h-px w-full border-b border-gray-200" />
      )}
      <div className={isCovered ? "hidden" : undefined}>{children}</div>
    </div>
  )
}

export default GiftCards
