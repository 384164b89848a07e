import "@giftcard-pay/widget/define";
import type {} from "@giftcard-pay/widget/vue";
import { createSSRApp, type GlobalComponents, h } from "vue";

type Props = InstanceType<GlobalComponents["giftcard-pay"]>["$props"];

const props: Props = {
  endpoint: "/store/giftcard-pay",
  cart: "cart_1",
  onGiftcardTotal: (event) => console.log(event.detail.remainderCents.toFixed()),
};
// @ts-expect-error an amount is no cart
export const wrong: Props = { cart: 5 };
export const app = createSSRApp({ render: () => h("giftcard-pay", props) });
