import "@giftcard-pay/widget/define";
import type {} from "@giftcard-pay/widget/svelte";
import type { SvelteHTMLElements } from "svelte/elements";

export const attributes: SvelteHTMLElements["giftcard-pay"] = {
  endpoint: "/store/giftcard-pay",
  cart: "cart_1",
  class: "wide",
  headers: { "x-shop": "1" },
  "ongiftcard-applied": (event) => console.log(event.detail.card.lastFour),
};
// @ts-expect-error a cart's id is a string
export const wrong: SvelteHTMLElements["giftcard-pay"] = { cart: 5 };
