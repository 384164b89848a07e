/**
 * A shop's gift card routes for the widget's tests: real HTTP, real arithmetic, state per cart. A test makes its
 * own cart, cards included, through `POST /shop/carts`, and changes it through `POST /shop/carts/{cart}`.
 */
import { randomUUID } from "node:crypto";

/** @typedef {import("@giftcard-pay/checkout/storefront").CartSummary} CartSummary */

/** Codes by the HTTP status that goes with them; any other is a 400. */
const statusOf = {
  too_many_attempts: 429,
  cart_not_found: 404,
  applied_card_not_found: 404,
  cart_completed: 409,
  card_already_applied: 409,
  giftcard_not_payable: 409,
  too_many_cards: 409,
  payment_in_progress: 409,
  outcome_unknown: 503,
  service_unavailable: 503,
  internal: 500,
};

class Refusal extends Error {
  constructor(code, retryAfterSeconds) {
    super(code);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const carts = new Map();

/** Middleware for the test server. */
export async function shop(context, next) {
  const url = new URL(context.url, "http://shop");
  const parts = url.pathname.split("/").filter(Boolean);
  if (parts[0] !== "shop") return next();
  const text = await bodyOf(context.req);
  if (parts[1] === "carts") return control(context, parts[2], text);
  // A balance is asked for without a cart; a test names the one that knows its cards in a header.
  const isBalance = parts[3] === "balance";
  const cart = carts.get(isBalance ? context.headers["x-cart"] : parts[4]);
  context.type = "json";
  if (!cart) return refuse(context, new Refusal("cart_not_found"));
  cart.log.push({ method: context.method, url: context.url, headers: context.headers, body: text });
  const fault = cart.faults.shift();
  try {
    if (fault?.delayMs) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault?.cut === "before") return cut(context, true);
    if (fault?.code) throw new Refusal(fault.code, fault.retryAfterSeconds);
    const answer = await answerOf(
      cart,
      context.method,
      isBalance ? ["balance"] : parts.slice(5),
      text ? JSON.parse(text) : undefined,
    );
    if (fault?.cut) return cut(context, fault.cut === "after");
    context.body = fault?.raw ?? JSON.stringify(answer);
    if (fault?.status) context.status = fault.status;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(context, error, fault?.headerOnly);
  }
}

function control(context, id, text) {
  context.type = "json";
  const body = text ? JSON.parse(text) : {};
  if (!id) {
    const made = { totalCents: 7498, maxPerCardCents: 5000, maxCards: 3, environment: "live", ...body };
    const cart = {
      ...made,
      id: `cart_${randomUUID()}`,
      faults: body.faults ?? [],
      log: [],
      quotes: new Map(),
      applied: [],
    };
    cart.wrong = 0;
    carts.set(cart.id, cart);
    context.body = JSON.stringify({ id: cart.id });
    return;
  }
  const cart = carts.get(id);
  if (context.method === "POST") Object.assign(cart, body);
  context.body = JSON.stringify({ log: cart.log, applied: cart.applied });
}

function answerOf(cart, method, [what, id], body) {
  if (method === "GET" && !what) return summaryOf(cart);
  if (method === "POST" && what === "balance") return balanceOf(cart, body);
  if (method === "POST" && what === "quote") return quoteOf(cart, body);
  if (method === "POST" && what === "cards") return apply(cart, body.quoteId);
  if (method === "DELETE" && what === "cards") {
    if (!cart.applied.some((card) => card.id === id)) throw new Refusal("applied_card_not_found");
    cart.applied = cart.applied.filter((card) => card.id !== id);
    return summaryOf(cart);
  }
  throw new Refusal("invalid_request");
}

function balanceOf(cart, entry) {
  const { number, balanceCents, expiryDate = "" } = cardOf(cart, entry);
  return { lastFour: number.slice(-4), balanceCents, expiryDate };
}

function cardOf(cart, { cardNumber, pin }) {
  const card = cart.cards.find((one) => one.number === cardNumber);
  if (!card || card.pin !== pin) {
    if (++cart.wrong >= (cart.maxWrong ?? 10))
      throw new Refusal("too_many_attempts", cart.lockSeconds ?? 900);
    throw new Refusal("invalid_card");
  }
  return card;
}

function quoteOf(cart, entry) {
  const card = cardOf(cart, entry);
  const { cardNumber } = entry;
  if (cart.applied.some((one) => one.number === cardNumber && one.state === "applied"))
    throw new Refusal("card_already_applied");
  const { remainderCents } = summaryOf(cart);
  if (remainderCents === 0) throw new Refusal("nothing_to_pay");
  const openCents = remainderCents - (cart.notByCardCents ?? 0);
  if (openCents === 0) throw new Refusal("giftcard_not_payable");
  const quote = {
    quoteId: `quote_${randomUUID()}`,
    lastFour: cardNumber.slice(-4),
    ...shareOf(cart, card, openCents),
  };
  cart.quotes.set(quote.quoteId, card);
  return { ...quote, remainderCents: remainderCents - quote.usableCents, expiryDate: card.expiryDate ?? "" };
}

function apply(cart, quoteId) {
  const card = cart.quotes.get(quoteId);
  if (!card) throw new Refusal("quote_expired");
  if (cart.applied.length >= cart.maxCards) throw new Refusal("too_many_cards");
  cart.quotes.delete(quoteId);
  cart.applied.push({ id: `applied_${randomUUID()}`, number: card.number, state: "applied" });
  return summaryOf(cart);
}

/** What an order uses of a card: the least of what is owed, what it holds, and the limit. */
function shareOf(cart, card, owedCents) {
  const usableCents = Math.min(owedCents, card.balanceCents, cart.maxPerCardCents);
  const limitedBy =
    usableCents === owedCents ? "order" : usableCents === card.balanceCents ? "balance" : "limit";
  return { balanceCents: card.balanceCents, usableCents, limitedBy };
}

/** @returns {CartSummary} */
function summaryOf(cart) {
  const { notByCardCents = 0 } = cart;
  let owedCents = cart.totalCents - notByCardCents;
  const cards = cart.applied.map(({ id, number, state }) => {
    const card = cart.cards.find((one) => one.number === number);
    const use = shareOf(cart, card, state === "applied" ? owedCents : 0);
    owedCents -= use.usableCents;
    const { balanceCents, limitedBy, usableCents: amountCents } = use;
    return { id, lastFour: number.slice(-4), amountCents, balanceCents, limitedBy, state };
  });
  return {
    cartId: cart.id,
    currency: "EUR",
    totalCents: cart.totalCents,
    coveredCents: cart.totalCents - notByCardCents - owedCents,
    remainderCents: owedCents + notByCardCents,
    ...(notByCardCents && { notByCardCents }),
    maxPerCardCents: cart.maxPerCardCents,
    maxCards: cart.maxCards,
    cards,
    environment: cart.environment,
  };
}

function refuse(context, { code, retryAfterSeconds }, headerOnly = false) {
  context.status = statusOf[code] ?? 400;
  if (retryAfterSeconds) context.set("retry-after", String(retryAfterSeconds));
  const body = {
    code,
    message: `server text for ${code}`,
    ...(!headerOnly && retryAfterSeconds && { retryAfterSeconds }),
  };
  context.body = JSON.stringify(body);
}

/** Ends the connection, after the first bytes of an answer, or with none: then the browser may ask again by itself. */
function cut(context, begun) {
  context.status = 200;
  context.respond = false;
  if (begun) context.res.writeHead(200, { "content-length": 999 }).write("{");
  setTimeout(() => context.req.socket.destroy(), 20);
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
