/** Follows the gift cards: what they leave is what the shopper agrees to pay at the bank. */
const remaining = document.querySelector("#remaining");
const agreed = document.querySelector("[name=remainder]");

document.querySelector("giftcard-pay").addEventListener("giftcard-pay:total", ({ detail }) => {
  agreed.value = detail.remainingCents;
  remaining.textContent = `€${(detail.remainingCents / 100).toFixed(2)}`;
});
