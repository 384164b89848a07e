/** Follows the gift cards: what they leave is what the shopper agrees to pay at the bank. */
document.addEventListener("giftcard-pay:total", (event) => {
  const { remainingCents } = /** @type {CustomEvent<{ remainingCents: number }>} */ (event).detail;
  const agreed = /** @type {HTMLInputElement} */ (document.querySelector("[name=remainder]"));
  const shown = /** @type {HTMLElement} */ (document.querySelector("#remaining"));
  agreed.value = String(remainingCents);
  shown.textContent = `€${(remainingCents / 100).toFixed(2)}`;
});
