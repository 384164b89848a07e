import "@giftcard-pay/widget/define";
import type { GiftcardPay } from "@giftcard-pay/widget";
import type {} from "@giftcard-pay/widget/solid";

export function Checkout() {
  let tag!: GiftcardPay;
  return (
    <>
      <giftcard-pay
        ref={tag}
        endpoint="/store/giftcard-pay"
        cart="cart_1"
        publishable-key="pk_1"
        inputmode="text"
        class="wide"
        classList={{ dense: true }}
        role="group"
        style={{ margin: 0 }}
        headers={{ "x-shop": "1" }}
        prop:messages={{ check: "See what's left" }}
        onClick={(event) => event.preventDefault()}
        onFocus={() => tag.refresh()}
        on:giftcard-total={(event) => console.log(event.detail.covered === true)}
      >
        <h3 slot="title">Gift card</h3>
      </giftcard-pay>
      <giftcard-balance
        ref={(element) => console.log(element.balance?.balanceCents)}
        endpoint="/store/giftcard-pay"
        on:giftcard-balance={({ detail }) => console.log(detail.lastFour.length)}
      />
      {/* @ts-expect-error a cart's id is a string */}
      <giftcard-pay cart={5} />
      {/* @ts-expect-error `messages` is an object */}
      <giftcard-pay prop:messages="See what's left" />
    </>
  );
}
