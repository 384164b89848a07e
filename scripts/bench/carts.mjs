/** Measures the time to complete a cart: with a gift card, without one, and with a card of Medusa's own loyalty plugin. */

import { apiAt, fillCart } from "../demo/purchase.mjs";
import { CleanUp, startCardService } from "../shops/card-service.mjs";
import { createDatabase, migrateStore, startMedusaStore } from "../shops/medusa-store.mjs";
import { median, ratioOf } from "./load.mjs";
import { openBenchStore } from "./store.mjs";

/** @typedef {import("../demo/purchase.mjs").Api} Api */
/** @typedef {import("../shops/card-service.mjs").GiftcardService} GiftcardService */
/** @typedef {(text: string) => void} Say */

/**
 * Times for carts of one kind: the completion alone, and all calls of the payment (apply, collection, session, complete).
 * @typedef {{ completeMs: number[], checkoutMs: number[] }} Times
 */

/**
 * A shop's two APIs.
 * @typedef {{ store: Api, admin: Api }} Shop
 */

/**
 * A kind of cart: its shop and, if a card pays a part of it, how the card is applied.
 * @typedef {object} Kind
 * @property {Shop} shop
 * @property {() => Promise<(cartId: string) => Promise<unknown>>} [takeCard] takes a new card; returns a function that applies it
 */

const CARD_CENTS = 5000;
const TOTAL_CENTS = 7498;
const WARM_UP_CARTS = 20;
const TELL_EVERY = 10;

const shops = {
  giftcard: "with this plugin",
  loyalty: "with the loyalty plugin",
  bare: "without either",
};

/**
 * Buys carts sequentially, alternating between the kinds, and measures how long they take to complete.
 *
 * @param {{ serverUrl: string, carts: number, say: Say }} options `carts` of each kind
 * @returns {Promise<Record<string, number>>} ratios, milliseconds, and the service calls per purchase with a card
 */
export async function benchCarts({ serverUrl, carts, say }) {
  const cleanUp = new CleanUp();
  try {
    const appDir = await openBenchStore({ say });
    const { service } = await startCardService({ cleanUp, postgresUrl: serverUrl, progress: say });
    const cards = await service.issueCards(CARD_CENTS, WARM_UP_CARTS + carts);
    const open = (/** @type {keyof typeof shops} */ name) =>
      openShop({ name, appDir, serverUrl, service, cleanUp, say });
    const giftcard = await open("giftcard");
    const loyalty = await open("loyalty");
    const kinds = {
      card: { shop: giftcard, takeCard: async () => applyGiftcard(giftcard, cards) },
      plain: { shop: giftcard },
      loyalty: { shop: loyalty, takeCard: () => issueLoyaltyCard(loyalty) },
      loyaltyPlain: { shop: loyalty },
      bare: { shop: await open("bare") },
    };
    say(`${carts} carts of each kind, alternating, after ${WARM_UP_CARTS} to warm up`);
    await buyInTurns(kinds, WARM_UP_CARTS);
    const callsBefore = await countCalls(service);
    const times = await buyInTurns(kinds, carts, say);
    return { ...summarize(times), cartServiceCalls: ((await countCalls(service)) - callsBefore) / carts };
  } finally {
    await cleanUp.run();
  }
}

/** @param {{ name: keyof typeof shops, appDir: string, serverUrl: string, service: GiftcardService, cleanUp: CleanUp, say: Say }} options */
async function openShop({ name, appDir, serverUrl, service, cleanUp, say }) {
  say(`setting up the shop ${shops[name]}`);
  const databaseUrl = await createDatabase(serverUrl);
  const env = { BENCH_SHOP: name };
  await migrateStore({ databaseUrl, appDir, env });
  const { url, apiKey, companyId } = service;
  const giftcard = { baseUrl: url, apiKey, companyId };
  const medusa = await startMedusaStore({ databaseUrl, appDir, env, giftcard });
  cleanUp.add(() => medusa.stop());
  return {
    store: apiAt(medusa.url, { "x-publishable-api-key": medusa.publishableKey }),
    admin: apiAt(medusa.url, { authorization: `Bearer ${medusa.admin.token}` }),
  };
}

/** @param {Shop} shop @param {import("../shops/card-service.mjs").IssuedCard[]} cards */
function applyGiftcard({ store }, cards) {
  const card = cards.pop();
  if (!card) throw new Error("All cards are used up.");
  const body = { cardNumber: card.cardnumber, pin: card.pin };
  return (/** @type {string} */ cartId) => store("POST", `/store/giftcard-pay/carts/${cartId}/cards`, body);
}

/** @param {Shop} shop */
async function issueLoyaltyCard({ store, admin }) {
  const order = { value: CARD_CENTS / 100, currency_code: "eur", expires_at: null };
  const { gift_card } = await admin("POST", "/admin/gift-cards", order);
  const body = { code: gift_card.code };
  return (/** @type {string} */ cartId) => store("POST", `/store/carts/${cartId}/gift-cards`, body);
}

/**
 * @template {string} Name
 * @param {Record<Name, Kind>} kinds
 * @param {number} carts
 * @param {Say} [say]
 */
async function buyInTurns(kinds, carts, say = () => {}) {
  const names = /** @type {Name[]} */ (Object.keys(kinds));
  /** @type {[Name, Times][]} */
  const entries = names.map((name) => [name, { completeMs: [], checkoutMs: [] }]);
  const times = /** @type {Record<Name, Times>} */ (Object.fromEntries(entries));
  for (let turn = 1; turn <= carts; turn++) {
    // Rotate the order, so that each kind runs in each position equally often.
    const rotated = [...names.slice(turn % names.length), ...names.slice(0, turn % names.length)];
    for (const name of rotated) {
      const { completeMs, checkoutMs } = await buy(kinds[name]);
      times[name].completeMs.push(completeMs);
      times[name].checkoutMs.push(checkoutMs);
    }
    if (turn % TELL_EVERY > 0) continue;
    const medians = names.map((name) => `${name} ${median(times[name].completeMs).toFixed(0)} ms`);
    say(`  ${String(turn).padStart(3)} carts: ${medians.join(", ")}`);
  }
  return times;
}

/**
 * Buys one cart over HTTP, as a page does. Measures the payment only, not the steps before it.
 * @param {Kind} kind
 */
async function buy({ shop: { store }, takeCard }) {
  const cart = await fillCart(store);
  const apply = await takeCard?.();
  const startedAt = performance.now();
  await apply?.(cart.id);
  const { payment_collection } = await store("POST", "/store/payment-collections", { cart_id: cart.id });
  const sessions = `/store/payment-collections/${payment_collection.id}/payment-sessions`;
  const started = await store("POST", sessions, { provider_id: "pp_system_default" });
  const completedAt = performance.now();
  const result = await store("POST", `/store/carts/${cart.id}/complete`);
  const endedAt = performance.now();
  if (result.type !== "order") throw new Error(`The order was not placed: ${result.error?.message}`);
  const paidCents = Math.round(started.payment_collection.payment_sessions[0].amount * 100);
  const owedCents = TOTAL_CENTS - (takeCard ? CARD_CENTS : 0);
  if (paidCents !== owedCents) throw new Error(`${paidCents} cents were left to pay, not ${owedCents}.`);
  return { completeMs: endedAt - completedAt, checkoutMs: endedAt - startedAt };
}

/** @param {Record<"card" | "plain" | "loyalty" | "loyaltyPlain" | "bare", Times>} times */
function summarize({ card, plain, loyalty, loyaltyPlain, bare }) {
  const round = (/** @type {number} */ value) => Number(value.toFixed(3));
  const ms = (/** @type {number[]} */ times) => Number(median(times).toFixed(1));
  return {
    cartRatio: round(ratioOf(card.completeMs, plain.completeMs)),
    cartLoyaltyRatio: round(ratioOf(card.completeMs, loyalty.completeMs)),
    cartPluginRatio: round(ratioOf(plain.completeMs, bare.completeMs)),
    loyaltyCartRatio: round(ratioOf(loyalty.completeMs, loyaltyPlain.completeMs)),
    checkoutRatio: round(ratioOf(card.checkoutMs, plain.checkoutMs)),
    checkoutLoyaltyRatio: round(ratioOf(card.checkoutMs, loyalty.checkoutMs)),
    cardCompleteMs: ms(card.completeMs),
    plainCompleteMs: ms(plain.completeMs),
    loyaltyCompleteMs: ms(loyalty.completeMs),
    loyaltyPlainCompleteMs: ms(loyaltyPlain.completeMs),
    bareCompleteMs: ms(bare.completeMs),
  };
}

/** Returns the number of calls that the service has answered so far. @param {GiftcardService} service */
async function countCalls({ metricsUrl }) {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const counts = [...text.matchAll(/^giftcard_calls_total\{[^}]*\} (\d+)/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
