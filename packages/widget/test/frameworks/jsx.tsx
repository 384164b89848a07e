import "@giftcard-pay/widget/define";
import type { CustomElements } from "@giftcard-pay/widget/jsx";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements extends CustomElements {}
  }
}

export const page = (
  <>
    <giftcard-pay
      endpoint="/store/giftcard-pay"
      cart="cart_1"
      publishable-key="pk_1"
      ongiftcard-total={(event) => console.log(event.detail.covered === true)}
    />
    <giftcard-balance endpoint="/store/giftcard-pay" />
    {/* @ts-expect-error a cart's id is a string */}
    <giftcard-pay cart={5} />
  </>
);
