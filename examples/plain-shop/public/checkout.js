/**
 * Shows the remainder, which the shopper agrees to pay at the bank. While a payment with a card isn't finished, the tag keeps the
 * form, and offers to do without the card.
 */
document.addEventListener("giftcard-total", (event) => {
  const { remainderCents, settling } = /** @type {CustomEvent<{ remainderCents: number, settling: boolean }>} */ (event)
    .detail;
  const agreed = /** @type {HTMLInputElement} */ (document.querySelector("[name=remainder]"));
  const shown = /** @type {HTMLElement} */ (document.querySelector("#remainder"));
  agreed.value = settling ? "" : String(remainderCents);
  shown.textContent = `€${(remainderCents / 100).toFixed(2)}`;
});
