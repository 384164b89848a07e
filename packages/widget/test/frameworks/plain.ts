import { GiftcardPay, type TotalDetail } from "@giftcard-pay/widget";
import "@giftcard-pay/widget/define";
import "@giftcard-pay/widget/standalone";

const tag = document.createElement("giftcard-pay");
tag.addEventListener("giftcard-total", ({ detail }) => {
  const total: TotalDetail = detail;
  console.log(total.remainderCents.toFixed(), tag.summary?.cards[0]?.lastFour);
});
document.addEventListener("giftcard-before-apply", (event) => event.preventDefault());
console.log(tag instanceof GiftcardPay, document.createElement("giftcard-balance").balance?.balanceCents);
// @ts-expect-error the summary is read-only
tag.summary = undefined;
