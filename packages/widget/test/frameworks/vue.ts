import "@giftcard-pay/widget/define";
import type {} from "@giftcard-pay/widget/vue";
import { createSSRApp, type GlobalComponents, h } from "vue";

type Props = InstanceType<GlobalComponents["giftcard-pay"]>["$props"];

const props: Props = {
  endpoint: "/store/giftcard-pay",
  cart: "cart_1",
  onGiftcardTotal: (event) => console.log(event.detail.remainderCents.toFixed()),
};
// @ts-expect-error a cart's id is a string
export const wrong: Props = { cart: 5 };
export const app = createSSRApp({ render: () => h("giftcard-pay", props) });
