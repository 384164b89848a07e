import type { GiftcardPay as Element } from "@giftcard-pay/widget";
import { GiftcardBalance, GiftcardPay } from "@giftcard-pay/widget/react";
import { useRef } from "react";

export function Checkout({ cart }: { cart: string }) {
  const tag = useRef<Element>(null);
  return (
    <>
      <GiftcardPay
        ref={tag}
        endpoint="/store/giftcard-pay"
        cart={cart}
        headers={{ "x-shop": "1" }}
        onTotal={(event) => console.log(event.detail.remainderCents.toFixed(), tag.current?.summary?.cards.length)}
        onBeforeApply={(event) => event.detail.quote.balanceCents < 100 && event.preventDefault()}
      />
      <GiftcardBalance endpoint="/store/giftcard-pay" onBalance={(event) => console.log(event.detail.lastFour)} />
      {/* @ts-expect-error a cart's id is a string */}
      <GiftcardPay cart={5} />
    </>
  );
}
