import { GiftcardBalance } from "./giftcard-balance.js";
import { GiftcardPay } from "./giftcard-pay.js";

GiftcardPay.define();
GiftcardBalance.define();

declare global {
  interface HTMLElementTagNameMap {
    "giftcard-pay": GiftcardPay;
    "giftcard-balance": GiftcardBalance;
  }
}

export { GiftcardBalance, GiftcardPay };
