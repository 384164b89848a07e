import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@giftcard-pay/client";
import { Visitor } from "../shops/visitor.mjs";

const SWEEP_TIMEOUT_MS = 90_000;
const HANG_MS = 1_000;

/** @param {number} cents */
const inEuro = (cents) => (cents / 100).toFixed(2);

/**
 * Buys in the plain shop over HTTP, as a browser does. One purchase is paid, and the bank declines another. In the third
 * the shopper closes the tab at the bank. In the last they pay there, but never return. Logs each step and checks each
 * amount.
 *
 * @param {import("../shops/plain-shop.mjs").PlainShop} shop
 * @param {() => Promise<import("../shops/card-service.mjs").IssuedCard>} issueCard gives a card of 75.00
 * @param {(text: string) => void} say
 * @throws if a call fails or an amount is wrong
 */
export async function buyInFourWays(shop, issueCard, say) {
  const { url, apiKey, companyId } = shop.service;
  const client = createClient({ baseUrl: url, apiKey, companyId });
  const newCard = async () => {
    const { cardnumber: cardNumber, pin } = await issueCard();
    return { cardNumber, pin, balance: async () => (await client.balance({ cardNumber, pin })).balanceCents };
  };

  const card = await newCard();
  const visit = await toBank(shop, card, say);
  assert.equal(await card.balance(), 2500);
  const paid = await visit.decide("approve");
  assert.match(paid.text, /Your order is paid/);
  for (const part of ["€74.98", "€50.00", "€24.98"]) assert.ok(paid.text.includes(part), part);
  say(`approved at the bank: order paid, 74.98 = gift card 50.00 + bank 24.98`);
  say(`card balance 75.00 -> ${inEuro(await card.balance())}`);

  const second = await newCard();
  const declining = await toBank(shop, second, say);
  say(`at the bank: card balance ${inEuro(await second.balance())}`);
  const declined = await declining.decide("decline");
  assert.match(declined.text, /Nothing was taken/);
  assert.equal(await second.balance(), 7500);
  say(`declined at the bank: nothing was taken, card balance ${inEuro(await second.balance())}`);

  const [third, fourth] = [await newCard(), await newCard()];
  const leaving = await toBank(shop, third, say);
  const left = await third.balance();
  assert.equal(left, 2500);
  say(`tab closed at the bank: card balance ${inEuro(left)}, until the sweeper comes`);
  const staying = await toBank(shop, fourth, say);
  await staying.hang();
  say(`approved at the bank, which never sent the shopper back: card balance ${inEuro(await fourth.balance())}`);

  await until(async () => (await third.balance()) === 7500);
  say(`swept, closed tab: card balance ${inEuro(left)} -> ${inEuro(await third.balance())}`);
  const late = await leaving.decide("approve");
  assert.match(late.text, /not paid/);
  say("approved too late: the bank's payment is closed, nothing was taken");
  await until(async () => /Your order is paid/.test((await staying.look()).text));
  assert.equal(await fourth.balance(), 2500);
  say(`swept, nobody came back: order paid, card balance 75.00 -> ${inEuro(await fourth.balance())}`);
  say(`orders and books, ${await compareBooks(shop)}`);
}

/** Compares the shop's orders with the checkout's books. @param {import("../shops/plain-shop.mjs").PlainShop} shop */
async function compareBooks({ url, operatorPassword }) {
  const authorization = `Basic ${Buffer.from(`operator:${operatorPassword}`).toString("base64")}`;
  const books = await (await fetch(`${url}/operator/books`, { headers: { authorization } })).text();
  const [found] = books.trimEnd().split("\n").slice(-1);
  assert.match(String(found), / payments; no difference$/);
  return found;
}

/** @param {() => Promise<boolean>} isSo @throws on a timeout */
async function until(isSo) {
  const giveUpAt = Date.now() + SWEEP_TIMEOUT_MS;
  while (!(await isSo())) {
    assert.ok(Date.now() < giveUpAt, "the sweeper didn't come");
    await sleep(250);
  }
}

/**
 * Puts the festival into a new shopper's cart, applies the card, and places the order.
 * @param {import("../shops/plain-shop.mjs").PlainShop} shop
 * @param {{ cardNumber: string, pin: string }} card
 * @param {(text: string) => void} say
 */
async function toBank(shop, card, say) {
  const visitor = new Visitor();
  const checkout = await visitor.submit(`${shop.url}/cart`, { product: "festival-pair" });
  const cart = checkout.text.match(/cart="([^"]+)"/)?.[1];
  const { cardNumber, pin } = card;
  const applied = await visitor.send(`${shop.url}/giftcards/carts/${cart}/cards`, { cardNumber, pin });
  assert.equal(applied.coveredCents, 5000);
  say(
    `cart ${inEuro(applied.totalCents)}: gift card ${inEuro(applied.coveredCents)}, bank ${inEuro(applied.remainderCents)}`,
  );
  const bank = await visitor.submit(`${shop.url}/orders`, { plan: applied.plan });
  assert.ok(bank.url.startsWith(shop.bankUrl), `the order led to ${bank.url}`);
  return {
    decide: (/** @type {string} */ choice) => visitor.submit(bank.url, { choice }),
    /** Has the bank take the money without answering. */
    hang: () =>
      assert.rejects(visitor.submit(bank.url, { choice: "hang" }, AbortSignal.timeout(HANG_MS)), {
        name: "TimeoutError",
      }),
    /** Opens the page with the order's status. */
    look: () => visitor.open(`${shop.url}/checkout`),
  };
}
