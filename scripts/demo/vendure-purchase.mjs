/** Purchases and refunds in the Vendure shop, with all amounts. */
import assert from "node:assert/strict";

/** @typedef {import("./vendure-stage.mjs").Stage} Stage */
/** @typedef {Awaited<ReturnType<Stage["shopper"]>>} Shopper */

const inEuro = (/** @type {number} */ cents) => (cents / 100).toFixed(2);

/**
 * Buys two tickets of 37.49 in six ways. Checks the amounts at the cards, at the bank and in Vendure each time.
 * @param {Stage} stage
 * @param {(text: string) => void} say
 * @throws if an amount is wrong
 */
export async function buyInSixWays(stage, say) {
  /** @param {Shopper} shopper @param {string} what @param {{ state: string, cards: number, bank: number }} expected */
  async function see(shopper, what, expected) {
    const wanted = [expected.state, expected.cards, expected.bank, expected.cards, expected.bank].join(" ");
    let seen = "";
    const isSo = async () => {
      const { state, payments } = await stage.look(shopper.code);
      const booked = [bookedCents(payments, "giftcard"), bookedCents(payments, "bank")];
      seen = [state, await shopper.cardsCents(), shopper.bankCents(), ...booked].join(" ");
      return seen === wanted;
    };
    await stage.until(isSo, () => `${what}: ${wanted} (what is held, and what Vendure says of it), not ${seen}`);
    const held = `cards ${inEuro(expected.cards)}, bank ${inEuro(expected.bank)}`;
    say(`${what}: ${held}, order ${expected.state}`);
  }
  const nothing = { state: "ArrangingPayment", cards: 0, bank: 0 };

  const both = await stage.shopper(7500);
  await both.payByCard();
  await both.payByBank(2498);
  await see(both, "card and bank", { state: "PaymentSettled", cards: 5000, bank: 2498 });
  for (const { id, amount } of (await stage.look(both.code)).payments) await stage.admin().refund(id, amount);
  await see(both, "  refunded", { state: "PaymentSettled", cards: 0, bank: 0 });

  const cards = await stage.shopper(5000, 5000);
  await cards.payByCard();
  await see(cards, "two cards alone", { state: "PaymentSettled", cards: 7498, bank: 0 });

  const cancelled = await stage.shopper(7500);
  await cancelled.payByCard();
  await cancelled.payByBank(2498);
  await see(cancelled, "card and bank", { state: "PaymentSettled", cards: 5000, bank: 2498 });
  await stage.admin().cancel(cancelled.id);
  await see(cancelled, "  cancelled", { state: "Cancelled", cards: 0, bank: 0 });

  const slow = await stage.shopper(7500);
  await slow.payByCard();
  await see(slow, "a shopper who waits", { state: "ArrangingPayment", cards: 5000, bank: 0 });
  await see(slow, "  recovery gave the card back", nothing);
  assert.equal((await slow.payByBank(2498)).errorCode, "PAYMENT_DECLINED_ERROR");
  await see(slow, "  and pays the bank's 24.98 now", nothing);
  await slow.payByCard();
  await slow.payByBank(2498);
  await see(slow, "  and pays by both again", { state: "PaymentSettled", cards: 5000, bank: 2498 });

  const left = await stage.shopper(7500);
  await dieAfterTheCharge(stage, left);
  await see(left, "the shop died: charged, and Vendure knew nothing", nothing);

  const alone = await stage.shopper(5000, 5000);
  await dieAfterTheCharge(stage, alone);
  await see(alone, "the same, of cards alone", { state: "PaymentSettled", cards: 7498, bank: 0 });
}

/**
 * Stalls the shop after the charge and before Vendure records it, and kills it there.
 * @param {Stage} stage
 * @param {Shopper} shopper
 */
async function dieAfterTheCharge(stage, shopper) {
  const release = await stage.hold(shopper.code);
  const paying = shopper.payByCard().catch(() => "died");
  await stage.until(
    async () => (await shopper.cardsCents()) > 0,
    () => "a charge",
  );
  await stage.killAndStart();
  assert.equal(await paying, "died");
  await release();
}

/**
 * Returns the amount that Vendure records for a payment method.
 * @param {import("./vendure-stage.mjs").OrderView["payments"]} payments
 * @param {unknown} method
 */
function bookedCents(payments, method) {
  const live = payments.filter((one) => one.method === method && /^(Authorized|Settled)$/.test(one.state));
  return live.reduce(
    (sum, { amount, refunds }) =>
      sum + amount - refunds.reduce((back, { state, total }) => back + (state === "Failed" ? 0 : total), 0),
    0,
  );
}
