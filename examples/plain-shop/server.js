/** A small shop on Hono and SQLite that takes gift cards; the remainder is paid on a bank's page. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CheckoutError, createCheckout, createHandler, RefundError } from "@giftcard-pay/checkout";
import { dayOf, daysOfMonth, reconciliationText, statementText } from "@giftcard-pay/checkout/operator";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import { cents, createClient } from "@giftcard-pay/client";
import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { basicAuth } from "hono/basic-auth";
import { getCookie, setCookie } from "hono/cookie";
import { csrf } from "hono/csrf";
import { createBankClient } from "./bank-client.js";
import { newSession, openOrders, products } from "./orders.js";
import { checkoutPage, messagePage, operatorPage, orderPage, productsPage, waitingPage } from "./pages.js";
import { readSettings } from "./settings.js";

const publicDir = new URL("./public/", import.meta.url);
const widgetDir = new URL("./", import.meta.resolve("@giftcard-pay/widget/standalone"));
const publicFiles = ["shop.css", "checkout.js", "owl.svg"];
const types = { ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
const widgetFile = /^giftcard-pay\.(css|(standalone|[a-z]{2})\.js)$/;

/**
 * The context of the routes.
 * @typedef {object} Shop
 * @property {ReturnType<typeof readSettings>} settings
 * @property {import("@giftcard-pay/checkout").Checkout} checkout
 * @property {ReturnType<typeof openOrders>} orders
 * @property {() => string} shopUrl
 */

/** @typedef {import("hono").Context} Context */
/** @typedef {import("./orders.js").Cart} Cart */

/** @param {Shop} shop */
function createApp(shop) {
  const { settings, shopUrl } = shop;
  // The form that places an order redirects to the bank's page, so `form-action` must allow it.
  const formTargets = `'self' ${new URL(settings.bankUrl).origin}`;
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header(
      "Content-Security-Policy",
      `default-src 'self'; form-action ${formTargets}; base-uri 'none'; frame-ancestors 'none'; object-src 'none'`,
    );
    c.header("Referrer-Policy", "same-origin");
    c.header("X-Content-Type-Options", "nosniff");
  });
  app.use(csrf({ origin: (origin) => origin === shopUrl() }));
  addCartRoutes(app, shop);
  addOrderRoutes(app, shop);
  addOperatorRoutes(app, shop);
  app.get("/:file", async (c) => {
    const file = c.req.param("file");
    const folder = widgetFile.test(file) ? widgetDir : publicDir;
    if (folder === publicDir && !publicFiles.includes(file)) return c.notFound();
    const type = types[/** @type {keyof typeof types} */ (path.extname(file))];
    return c.body(await readFile(fileURLToPath(new URL(file, folder))), 200, { "content-type": type });
  });
  return app;
}

/** @param {Context} c */
const sessionOf = (c) => getCookie(c, "session") ?? "";

/** Returns a cart as the checkout needs it. @param {Context} c @param {Cart} cart */
const viewOf = (c, { id, totalCents }) => ({
  id,
  totalCents: cents(totalCents),
  currency: "EUR",
  address: getConnInfo(c).remote.address,
});

/**
 * Returns the shopper's open cart. Opens the cart of an unpaid order again.
 * @param {Shop} shop
 * @param {string} session
 * @returns {Promise<Cart | null>}
 */
async function openCart({ checkout, orders, settings }, session) {
  const cart = orders.cart(session);
  if (!cart?.orderId) return cart;
  const purchase = await checkout.read(cart.orderId).catch(ifUnknown(null));
  // The process may have crashed before the payment started.
  const placedAt = orders.order(cart.orderId)?.placedAt ?? 0;
  const wasDropped = !purchase && Date.now() - placedAt > settings.leaseMs;
  if (purchase?.state !== "failed" && !wasDropped) return null;
  orders.reopen(cart.orderId);
  return { ...cart, orderId: null };
}

/** @param {Shop} shop @param {Context} c @param {string} [notice] why an order was not placed */
async function showCheckout(shop, c, notice) {
  const { checkout, orders } = shop;
  const cart = await openCart(shop, sessionOf(c));
  if (!cart || cart.totalCents === 0) {
    const placed = orders.cart(sessionOf(c))?.orderId;
    if (placed) return c.redirect(`/orders/${placed}`, 303);
    return c.html(messagePage("Checkout", "Your cart is empty.", { href: "/", text: "To the tickets" }));
  }
  const { remainderCents } = await checkout.list(viewOf(c, cart));
  return c.html(checkoutPage(cart, remainderCents, notice));
}

/** @param {Hono} app @param {Shop} shop */
function addCartRoutes(app, shop) {
  const { checkout, orders, shopUrl } = shop;

  app.all("/giftcards/*", (c) => {
    const cartOf = async () => {
      const cart = await openCart(shop, sessionOf(c));
      return cart && viewOf(c, cart);
    };
    return createHandler(checkout, { cartOf, origins: [shopUrl()], onFailure: logFailure })(c.req.raw);
  });

  app.get("/", (c) => c.html(productsPage(products)));

  app.post("/cart", async (c) => {
    const { product } = await c.req.parseBody();
    if (!products.some(({ id }) => id === product)) return c.text("There is no such product.", 400);
    const session = sessionOf(c) || newSession();
    const secure = shopUrl().startsWith("https:");
    setCookie(c, "session", session, { httpOnly: true, sameSite: "Lax", path: "/", secure });
    const cart = await openCart(shop, session);
    orders.add(cart?.id ?? orders.newCart(session), String(product));
    return c.redirect("/checkout", 303);
  });

  app.post("/cart/empty", async (c) => {
    const cart = await openCart(shop, sessionOf(c));
    if (cart) orders.empty(cart.id);
    return c.redirect("/", 303);
  });

  app.get("/checkout", (c) => showCheckout(shop, c, c.req.query("declined") === undefined ? undefined : declined));
}

/** @param {Hono} app @param {Shop} shop */
function addOrderRoutes(app, shop) {
  const { checkout, orders } = shop;

  app.post("/orders", async (c) => {
    const { plan } = await c.req.parseBody();
    const cart = await openCart(shop, sessionOf(c));
    const order = cart && cart.totalCents > 0 ? orders.place(cart) : null;
    // The shopper pressed the button twice, or in two windows. Only one order was placed; its page shows the state.
    if (!cart || !order) return c.redirect("/checkout", 303);
    const lines = order.lines.map(({ id, quantity, amountCents }) => ({
      id,
      quantity,
      totalCents: cents(amountCents),
    }));
    try {
      const result = await checkout.pay({ id: order.id, cart: viewOf(c, cart), lines, plan: String(plan ?? "") });
      return answer(c, order.id, result);
    } catch (error) {
      if (!(error instanceof CheckoutError)) logFailure(error);
      const purchase = await checkout.read(order.id).catch(ifUnknown(null));
      // Some refunds may still be pending; the order's page says so.
      if (purchase && purchase.state !== "failed") return c.redirect(`/orders/${order.id}`, 303);
      orders.reopen(order.id);
      return showCheckout(shop, c, error instanceof CheckoutError ? error.message : unreachable);
    }
  });

  /** Redirects the shopper to the next page. @param {Context} c @param {string} orderId @param {OrderPayment} result */
  function answer(c, orderId, result) {
    if (result.status === "paid") return c.redirect(`/orders/${orderId}`, 303);
    if (result.status === "pending") return c.redirect(pageIn(result.data), 303);
    return c.redirect("/checkout?declined", 303);
  }

  // The bank also calls this, without a session. The call only triggers a check of the payment.
  app.get("/orders/:id/return", async (c) => {
    const order = orders.order(c.req.param("id"));
    if (!order) return c.notFound();
    try {
      const result = await checkout.confirm(order.id);
      if (result.status === "declined") return answer(c, order.id, result);
    } catch (error) {
      // Another request is working on the order, or the bank can't be reached; the order's page shows the state.
      if (!(error instanceof CheckoutError)) logFailure(error);
    }
    return c.redirect(`/orders/${order.id}`, 303);
  });

  app.get("/orders/:id", async (c) => {
    const order = orders.orderOf(c.req.param("id"), sessionOf(c));
    if (!order) return c.notFound();
    const purchase = await checkout.read(order.id).catch(ifUnknown(null));
    if (purchase && paidStates.includes(purchase.state)) {
      const title = purchase.state === "paid" ? "Thank you" : "Your order";
      return c.html(orderPage(title, states[purchase.state] ?? "", order, await partsOf(shop, order.id)));
    }
    if (purchase?.state === "pending") {
      const link = { href: pageIn(purchase.data), text: "Pay at the bank" };
      return c.html(messagePage("One step to go", "The bank's part of your order isn't paid yet.", link));
    }
    const state = purchase?.state ?? "charging";
    return c.html((state === "failed" ? messagePage : waitingPage)("Your order", states[state] ?? ""));
  });
}

/**
 * Returns the payments and refunds of an order.
 * @param {Shop} shop
 * @param {string} orderId
 * @returns {Promise<import("./pages.js").Part[]>}
 */
async function partsOf({ checkout }, orderId) {
  const { cards, remainder } = await checkout.paidBy(orderId);
  const named = cards.map(({ lastFour, ...part }) => ({ name: `Gift card ending in ${lastFour}`, ...part }));
  return remainder.amountCents > 0 ? [...named, { name: "Bank", ...remainder }] : named;
}

/** @typedef {import("@giftcard-pay/checkout").OrderPayment} OrderPayment */
/** Returns the URL of the bank's page. @param {unknown} data the result of `authorize` */
const pageIn = (data) => /** @type {{ page: string }} */ (data).page;

/**
 * Carries out the operator's decision, or shows why that is impossible.
 * @param {import("hono").Context} c @param {() => Promise<unknown>} act
 */
async function decide(c, act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof CheckoutError || error instanceof RefundError)) throw error;
    const text = messagePage("Not done", error.message, { href: "/operator", text: "Back" });
    return c.html(text, /** @type {400 | 404 | 409} */ (error.status));
  }
  return c.redirect("/operator", 303);
}

/** @param {Hono} app @param {Shop} shop */
function addOperatorRoutes(app, { settings, checkout, orders }) {
  app.use("/operator/*", basicAuth({ username: "operator", password: settings.operatorPassword }));

  app.get("/operator", async (c) => {
    const rows = [];
    for (const order of orders.orders()) {
      const purchase = await checkout.read(order.id).catch(ifUnknown(null));
      const { state = "never paid", remainderCents = 0, tries = 0, lastError = null } = purchase ?? {};
      rows.push({ order, state, remainderCents, fault: lastError && `${lastError}, ${tries} tries` });
    }
    return c.html(operatorPage(rows));
  });

  // Refunds the cards and the bank, once. If that fails now, recovery does it.
  app.post("/operator/orders/:id/cancel", async (c) => {
    const orderId = c.req.param("id");
    return decide(c, () => checkout.cancel(orderId));
  });

  // Refunds only the cards' part; the bank keeps its part.
  app.post("/operator/orders/:id/refund", async (c) => {
    const orderId = c.req.param("id");
    return decide(c, () => checkout.refundCards(orderId));
  });

  // Refunds tickets of a line. The id from the page makes it a single return, however often the button is pressed.
  app.post("/operator/orders/:id/return", async (c) => {
    const { id, line, quantity = 1 } = await c.req.parseBody();
    const lines = { [String(line)]: Number(quantity) };
    return decide(c, () => checkout.refund(c.req.param("id"), { id: String(id), lines }));
  });

  // Retries a failed step now, such as the bank's part of a refund.
  app.post("/operator/orders/:id/retry", async (c) => {
    await checkout.operator.retryPurchase(c.req.param("id"), "operator");
    return c.redirect("/operator", 303);
  });

  /**
   * Yields the cards' payments and refunds according to the shop's own orders.
   * @param {import("@giftcard-pay/checkout/operator").PaymentQuery} query
   */
  async function* payments({ from, to, orderIds }) {
    for (const { id } of orders.placed(from, to, orderIds)) {
      const { cards } = await checkout.paidBy(id).catch(ifUnknown({ cards: [] }));
      const amountCents = cards.reduce((sum, card) => sum + card.amountCents, 0);
      const refundedCents = cards.reduce((sum, card) => sum + card.refundedCents + card.owedCents, 0);
      if (amountCents > 0) yield { orderId: id, amountCents, refundedCents };
    }
  }

  // The month's statement, and a comparison of the shop's orders with the checkout's books: `?month=yyyy-mm`.
  app.get("/operator/books", async (c) => {
    const days = daysOfMonth(c.req.query("month") ?? dayOf(new Date()).slice(0, 7));
    const statement = statementText(await checkout.operator.statement(days));
    return c.text(`${statement}\n${reconciliationText(await checkout.operator.reconcile({ ...days, payments }))}`);
  });

  // Runs the job of every minute now.
  app.post("/operator/recover", async (c) => {
    await recover(checkout);
    return c.redirect("/operator", 303);
  });
}

/**
 * Handles an order whose payment was never begun.
 * @template T
 * @param {T} value
 * @returns {(error: unknown) => T}
 */
const ifUnknown = (value) => (error) => {
  if (error instanceof CheckoutError && error.code === "order_not_found") return value;
  throw error;
};

const declined = "The bank's part was not paid. Nothing was taken: any gift card charge was reversed.";
const unreachable = "The payment failed. If anything was charged, it is refunded automatically.";
/** @type {string[]} */
const paidStates = ["paid", "canceling", "canceled", "refunding", "refunded"];
/** @type {Record<string, string>} */
const states = {
  paid: "Your order is paid.",
  charging: "Your payment is being processed.",
  voiding:
    "We don't know yet whether your gift card was charged. If it was, the money is returned. Please don't pay again yet.",
  failed: "Your order was not paid. Nothing was taken: any gift card charge was reversed.",
  canceling: "Your order was canceled. Your payment is being refunded.",
  canceled: "Your order was canceled. Your payment was refunded.",
  refunding: "A refund of your payment is in progress.",
  refunded: "Your refund is complete.",
};

/** @param {unknown} error contains no card number */
function logFailure(error) {
  console.error(error);
}

/** Resolves the purchases of crashes and closed tabs. @param {import("@giftcard-pay/checkout").Checkout} checkout */
async function recover(checkout) {
  const { purchases } = await checkout.recover();
  for (const { orderId, state } of purchases) console.log(`recovery: order ${orderId} is ${state}`);
}

/**
 * Runs recovery repeatedly.
 * @param {import("@giftcard-pay/checkout").Checkout} checkout
 * @param {number} everyMs
 * @returns a function that stops it
 */
function sweep(checkout, everyMs) {
  let timer = setTimeout(next, everyMs);
  async function next() {
    await recover(checkout).catch(logFailure);
    timer = setTimeout(next, everyMs);
  }
  return () => clearTimeout(timer);
}

/**
 * Starts the shop.
 * @param {ReturnType<typeof readSettings>} settings
 * @param {import("@giftcard-pay/checkout/store").CheckoutStore} store the database of the payments
 */
export function startShop(settings, store) {
  let shopUrl = settings.publicUrl;
  const orders = openOrders(settings.file);
  const bank = createBankClient(
    { url: settings.bankUrl, key: settings.bankKey, timeoutMs: settings.bankTimeoutMs },
    (orderId) => `${shopUrl}/orders/${orderId}/return`,
  );
  const { environment, sealingKeys, charges, leaseMs, pendingRemainderMs, recoverEveryMs } = settings;
  const checkout = createCheckout({
    issuer: createClient({ ...settings.giftcards, environment }),
    remainder: bank,
    ...{ environment, store, sealingKeys, charges, leaseMs, pendingRemainderMs },
  });
  const app = createApp({ settings, checkout, orders, shopUrl: () => shopUrl });
  const { host: hostname, port } = settings;
  const server = /** @type {import("node:http").Server} */ (
    serve({ fetch: app.fetch, hostname, port }, (address) => {
      shopUrl ||= `http://${hostname}:${address.port}`;
      console.log(`The shop is ready at ${shopUrl}`);
    })
  );
  const stopSweeping = sweep(checkout, recoverEveryMs);
  const stop = () => {
    stopSweeping();
    server.close(() => process.exit(0));
    setTimeout(() => server.closeAllConnections(), 2_000).unref();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const settings = readSettings(process.env);
  startShop(settings, await createSqliteStore({ file: settings.file }));
}
