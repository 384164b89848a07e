export { GiftcardCheckout } from "./checkout.js";
export type { GiftcardPluginOptions, OpenedStore } from "./options.js";
export { Orders as GiftcardOrders } from "./orders.js";
export { type Outstanding, outstandingByStripe, outstandingOf } from "./outstanding.js";
export { GiftcardPlugin } from "./plugin.js";
