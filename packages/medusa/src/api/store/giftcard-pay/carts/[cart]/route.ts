import { shopRoute } from "../../shop-route.js";

/** The cart as the gift cards see it. */
export const GET = shopRoute(({ engine, cart }) => engine.summary(cart));
