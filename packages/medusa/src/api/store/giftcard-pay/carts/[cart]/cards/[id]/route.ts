import { changeCards, shopRoute } from "../../../../shop-route.js";

/** Takes a card off the cart. */
export const DELETE = shopRoute((call) =>
  changeCards(call, () => call.engine.remove(call.cart, String(call.req.params.id))),
);
