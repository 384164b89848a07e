export { GiftcardCheckout } from "./checkout.js";
export type { Outstanding } from "./gates.js";
export type { GiftcardPluginOptions } from "./options.js";
export { Orders as GiftcardOrders } from "./orders.js";
export { outstandingByStripe, outstandingOf } from "./outstanding.js";
export { GiftcardPlugin } from "./plugin.js";
