/**
 * Shows the remainder, which the shopper pays at the bank. The tag itself submits what it shows. While a payment with a card isn't
 * finished, it keeps the form, and offers to do without the card.
 */
document.addEventListener("giftcard-total", (event) => {
  const { remainderCents } = /** @type {CustomEvent<{ remainderCents: number }>} */ (event).detail;
  const shown = /** @type {HTMLElement} */ (document.querySelector("#remainder"));
  shown.textContent = `€${(remainderCents / 100).toFixed(2)}`;
});
