import "@giftcard-pay/widget/define";
import type { GiftcardPay } from "@giftcard-pay/widget";
import type {} from "@giftcard-pay/widget/jsx";
import { useRef } from "react";

export function Checkout() {
  const tag = useRef<GiftcardPay>(null);
  return (
    <>
      <giftcard-pay
        ref={tag}
        key="cart_1"
        endpoint="/store/giftcard-pay"
        cart="cart_1"
        publishable-key="pk_1"
        inputmode="text"
        class="wide"
        className="wide"
        role="group"
        part="cards"
        style={{ margin: 0 }}
        suppressHydrationWarning
        headers={{ "x-shop": "1" }}
        onClick={(event) => event.preventDefault()}
        onFocus={() => tag.current?.refresh()}
        onInput={(event) => event.currentTarget.summary?.cards.length}
        ongiftcard-total={(event) => console.log(event.detail.covered === true)}
      >
        <h3 slot="title">Gift card</h3>
      </giftcard-pay>
      <giftcard-balance
        ref={(element) => console.log(element?.balance?.balanceCents)}
        inputMode="text"
        endpoint="/store/giftcard-pay"
        ongiftcard-balance={({ detail }) => console.log(detail.lastFour.length)}
      />
      {/* @ts-expect-error a cart's id is a string */}
      <giftcard-pay cart={5} />
    </>
  );
}
