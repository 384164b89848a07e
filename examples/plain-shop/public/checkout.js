/** Shows the remainder, which the shopper agrees to pay at the bank. */
document.addEventListener("giftcard-total", (event) => {
  const { remainderCents } = /** @type {CustomEvent<{ remainderCents: number }>} */ (event).detail;
  const agreed = /** @type {HTMLInputElement} */ (document.querySelector("[name=remainder]"));
  const shown = /** @type {HTMLElement} */ (document.querySelector("#remainder"));
  agreed.value = String(remainderCents);
  shown.textContent = `€${(remainderCents / 100).toFixed(2)}`;
});
