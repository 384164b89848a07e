import { build } from "./build.mjs";
import { runVendure } from "./demo/vendure.mjs";
import { command, interrupted, readPort, UsageError } from "./lib/command.mjs";

const HELP = `Runs the whole shop on this machine, with throwaway databases.

  npm run demo                 starts everything, and prints the addresses and a card to pay with; Ctrl-C stops it
  npm run demo -- --buy        buys with a gift card and the bank without a browser, refunds one of two tickets, cancels orders
  npm run demo -- --plain      the shop without a framework: service, shop and a simulated bank
  npm run demo -- --plain --buy  buys there, is declined, closes the tab at the bank; prints all amounts
  npm run demo -- --vendure    Vendure's APIs: examples/vendure (the first run installs Vendure)
  npm run demo -- --vendure --buy  buys there in six ways; fails if an amount is wrong by a cent
  npm run demo -- --gallery    the widget's gallery: every state of both tags, in several themes
  npm run demo -- --no-admin   without Medusa's admin pages, which take half a minute to build the first time

  --port <n>   the gallery's port (default 5173, or the next free one)
`;

const startedAt = performance.now();

/** @param {string} text */
function progress(text) {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(3);
  process.stdout.write(`${seconds} s  ${text}\n`);
}

/** @param {{ buy: boolean, withAdmin: boolean }} options @param {AbortSignal} signal */
async function run({ buy, withAdmin }, signal) {
  progress("building what has changed");
  const news = (/** @type {string} */ text) => text.endsWith("up to date") || progress(text);
  await build(buy ? ["service", "store"] : ["service", "store", "storefront"], { progress: news, signal });
  // Import them after the build: they import its output.
  const { buildAdmin } = await import("./shops/medusa-store.mjs");
  if (withAdmin) await buildAdmin({ progress, signal });
  const { startWholeShop } = await import("./shops/whole-shop.mjs");
  const shop = await startWholeShop({ withStorefront: !buy, withAdmin, progress, signal });
  try {
    progress("issuing gift cards");
    const card = await shop.service.issueCard(7500);
    if (buy) {
      const { buyAndCancel, returnOneOfTwo } = await import("./demo/purchase.mjs");
      const { buyTwoShows } = await import("./demo/two-shows.mjs");
      await buyAndCancel(shop, card, progress);
      await returnOneOfTwo(shop, await shop.service.issueCard(3500), progress);
      await buyTwoShows(shop, await shop.service.issueCard(7500), progress);
      return;
    }
    const second = await shop.service.issueCard(3000);
    progress("ready");
    process.stdout.write(welcome(shop, card, second, withAdmin));
    await Promise.race([
      interrupted(signal),
      shop.store.exited.then(() => fail("The Medusa store ended:", shop.store.logs)),
    ]);
  } finally {
    progress("stopping");
    await shop.stop();
  }
}

/** @param {{ buy: boolean }} options @param {AbortSignal} signal */
async function runPlain({ buy }, signal) {
  progress("building what has changed");
  const news = (/** @type {string} */ text) => text.endsWith("up to date") || progress(text);
  await build(["service", "checkout", "widget"], { progress: news, signal });
  const { startPlainShop } = await import("./shops/plain-shop.mjs");
  const haste = buy ? { pendingRemainderMs: 8_000, recoverEveryMs: 1_000 } : {};
  const shop = await startPlainShop({ ...haste, progress, signal });
  try {
    const issueCard = () => shop.service.issueCard(7500);
    if (buy) {
      const { buyInFourWays } = await import("./demo/plain-purchase.mjs");
      await buyInFourWays(shop, issueCard, progress);
      return;
    }
    const card = await issueCard();
    progress("ready");
    process.stdout.write(`
  Shop         ${shop.url}
  Orders       ${shop.url}/operator   (operator, password ${shop.operatorPassword})

  Gift card    ${card.cardnumber}   PIN ${card.pin}   holds 75.00

  What to try
    Summer Night Festival, 74.98: the card pays 50.00, the bank 24.98. Decline it there: the card's charge is reversed.
    Close the tab at the bank: a minute later the card's charge is reversed.

  Ctrl-C stops everything and removes its data.
`);
    await Promise.race([interrupted(signal), shop.exited.then(() => fail("The shop ended:", shop.logs))]);
  } finally {
    progress("stopping");
    await shop.stop();
  }
}

/** @param {string} what @param {() => string} logs @returns {never} */
function fail(what, logs) {
  throw new Error(`${what}\n${logs().slice(-4000)}`);
}

/**
 * @param {import("./shops/whole-shop.mjs").WholeShop} shop
 * @param {import("./shops/whole-shop.mjs").IssuedCard} card
 * @param {import("./shops/whole-shop.mjs").IssuedCard} second
 * @param {boolean} withAdmin
 */
function welcome({ store, storefrontUrl }, card, second, withAdmin) {
  const admin = withAdmin
    ? `\n  Admin        ${store.url}/app   (${store.admin.email}, password ${store.admin.password})`
    : "";
  const inAdmin = `    In the admin: cancel an order, and see the card's balance come back. Or capture an order with two Open-air Cinema,
    take one off by Edit order, and press Refund under Gift cards: its part is on the card again.
    At the end of a product's page, make the product an event and publish it: the card issuer lists it. Then edit it: the
    page shows the difference, since the interface can't change an event at the issuer.
`;
  return `
  Storefront   ${storefrontUrl}${admin}

  Gift card    ${card.cardnumber}   PIN ${card.pin}   holds 75.00
  Another one  ${second.cardnumber}   PIN ${second.pin}   holds 30.00

  What to try
    Summer Night Festival, 74.98: the first card pays 50.00 (the most that one card pays of an order), the bank 24.98.
    Apply both cards to it: nothing is left for the bank. Remove one again.
    Open-air Cinema, 20.00: one card pays it all. Weekend at the Dunes, 120.00: two cards and the bank.
    Late-night Comedy, 24.95, with the code TEN (10 % off) in the cart; FIVE takes 5.00 off, FREESHIP the delivery.
    A wrong PIN. More tickets after a card was applied. Delivery by post.
${withAdmin ? inAdmin : ""}
  Ctrl-C stops everything and removes its data.
`;
}

/** @param {number} port @param {AbortSignal} signal */
async function runGallery(port, signal) {
  progress("building what has changed");
  await build(["widget"], { progress, signal });
  // The widget's tests and their shop aren't type-checked with the scripts: a computed address keeps them apart.
  const { serveGallery } = await import(new URL("../packages/widget/gallery/serve.mjs", import.meta.url).href);
  const gallery = await serveGallery(port);
  progress(`the gallery: ${gallery.url}   Ctrl-C stops it`);
  await interrupted(signal);
  await gallery.close();
}

const options = /** @type {const} */ ({
  plain: { type: "boolean" },
  vendure: { type: "boolean" },
  gallery: { type: "boolean" },
  port: { type: "string", default: "5173" },
  buy: { type: "boolean" },
  "no-admin": { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal }) => {
  const { plain = false, vendure, gallery, buy = false, "no-admin": withoutAdmin = false } = values;
  if ([plain, vendure, gallery].filter(Boolean).length > 1 || (gallery && buy))
    throw new UsageError("Give only one of --plain, --vendure and --gallery; --gallery takes no --buy.");
  if (gallery) return runGallery(readPort(values.port), signal);
  if (vendure) return runVendure({ buy, progress, signal });
  return (plain ? runPlain : run)({ buy, withAdmin: !buy && !withoutAdmin }, signal);
});
