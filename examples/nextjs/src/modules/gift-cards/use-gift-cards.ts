import type { GiftcardPay, TotalDetail } from "@giftcard-pay/widget"
import { useEffect, useState } from "react"

/** Returns the amounts of the cart as `<giftcard-pay>` knows them; undefined until it has loaded the cart. */
export function useGiftCards(): TotalDetail | undefined {
  const [paid, setPaid] = useState<TotalDetail>()

  useEffect(() => {
    const show = ({ detail }: { detail: TotalDetail }) => setPaid(detail)
    document.addEventListener("giftcard-total", show)
    // The tag may have dispatched its event before this listener was added.
    const tag = document.querySelector<GiftcardPay>("giftcard-pay")
    const { summary } = tag ?? {}
    if (tag && summary)
      setPaid({
        ...summary,
        summary,
        covered: tag.matches(":state(covered)"),
        settling: tag.matches(":state(settling)"),
      })
    return () => document.removeEventListener("giftcard-total", show)
  }, [])

  return paid
}
