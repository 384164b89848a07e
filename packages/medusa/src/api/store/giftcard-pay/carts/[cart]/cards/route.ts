import { type ApplyRequest, readCardBody } from "@giftcard-pay/checkout";
import { changeCards, shopRoute } from "../../../shop-route.js";

/** Applies a card to the cart. It is charged when the order is placed. */
export const POST = shopRoute(async (call) => {
  // The engine checks what stands in it.
  const request = (await readCardBody(call.req)) as unknown as ApplyRequest;
  return changeCards(call, () => call.engine.apply(call.cart, request));
});
