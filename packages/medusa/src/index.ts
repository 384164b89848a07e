export { type GiftcardOptions, withGiftcard } from "./config.js";
export { PROVIDER_ID } from "./names.js";
