import { GiftcardPay } from "./giftcard-pay.js";

GiftcardPay.define();

declare global {
  interface HTMLElementTagNameMap {
    "giftcard-pay": GiftcardPay;
  }
}

export { GiftcardPay };
