/**
 * A simulated shop's gift card routes: real arithmetic and state per cart, without the HTTP server. A test creates its own
 * cart and cards by `POST /shop/carts`, and changes them by `POST /shop/carts/{cart}`.
 */

/** @typedef {import("@giftcard-pay/checkout/storefront").CartSummary} CartSummary */

/** The HTTP status of each code; 400 for any other. */
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

/**
 * A response, or a connection that breaks: before the response, or after its first bytes.
 * @typedef {{ status: number, headers: Record<string, string>, body: string } | { cut: "before" | "begun" }} Answer
 */

/**
 * Answers a call to `/shop/…`.
 *
 * @param {{ method: string, url: string, headers: Record<string, string | string[] | undefined>, text: string }} call
 *   header names are in lower case
 * @returns {Promise<Answer>} with a JSON body
 */
export async function answerCall(call) {
  const [, what, ...rest] = new URL(call.url, "http://shop").pathname.split("/").filter(Boolean);
  return what === "carts" ? control(call, rest[0]) : answerRoute(call, rest.slice(1));
}

async function answerRoute({ method, url, headers, text }, [first, ...others]) {
  // A balance needs no cart. A test names in a header the cart that knows its cards.
  const isBalance = first === "balance";
  const cart = carts.get(isBalance ? headers["x-cart"] : others[0]);
  if (!cart) return refuse(new Refusal("cart_not_found"));
  cart.log.push({ method, url, headers, body: text });
  const fault = cart.faults.shift();
  try {
    if (fault?.delayMs) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault?.cut === "before") return { cut: "begun" };
    if (fault?.code) throw new Refusal(fault.code, fault.retryAfterSeconds);
    const rest = isBalance ? [first] : others.slice(1);
    const answer = answerOf(cart, method, rest, text ? JSON.parse(text) : undefined);
    if (fault?.cut) return { cut: fault.cut === "after" ? "begun" : "before" };
    return { status: fault?.status ?? 200, headers: {}, body: fault?.raw ?? JSON.stringify(answer) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(error, fault?.headerOnly);
  }
}

function control({ method, text }, id) {
  const body = text ? JSON.parse(text) : {};
  const answer = (value) => ({ status: 200, headers: {}, body: JSON.stringify(value) });
  if (!id) {
    const made = { totalCents: 7498, maxPerCardCents: 5000, maxCards: 3, environment: "live", ...body };
    const cart = {
      ...made,
      id: `cart_${crypto.randomUUID()}`,
      faults: body.faults ?? [],
      log: [],
      quotes: new Map(),
      applied: [],
    };
    cart.wrong = 0;
    carts.set(cart.id, cart);
    return answer({ id: cart.id });
  }
  const cart = carts.get(id);
  if (method === "POST") Object.assign(cart, body);
  return answer({ log: cart.log, applied: cart.applied });
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
    if (++cart.wrong >= (cart.maxWrong ?? 10)) throw new Refusal("too_many_attempts", cart.lockSeconds ?? 900);
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
    quoteId: `quote_${crypto.randomUUID()}`,
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
  cart.applied.push({ id: `applied_${crypto.randomUUID()}`, number: card.number, state: "applied" });
  return summaryOf(cart);
}

/** Returns how much an order uses of a card: the least of the amount owed, the balance and the limit. */
function shareOf(cart, card, owedCents) {
  const usableCents = Math.min(owedCents, card.balanceCents, cart.maxPerCardCents);
  const limitedBy = usableCents === owedCents ? "order" : usableCents === card.balanceCents ? "balance" : "limit";
  return { balanceCents: card.balanceCents, usableCents, limitedBy };
}

/** @returns {CartSummary} */
function summaryOf(cart) {
  const { notByCardCents = 0 } = cart;
  let owedCents = cart.totalCents - notByCardCents;
  const cards = cart.applied.map(({ id, number, state, refusal }) => {
    const card = cart.cards.find((one) => one.number === number);
    const use = shareOf(cart, card, state === "applied" ? owedCents : 0);
    owedCents -= use.usableCents;
    const { balanceCents, limitedBy, usableCents: amountCents } = use;
    const { expiryDate = "" } = card;
    const shown = { id, lastFour: number.slice(-4), amountCents, balanceCents, expiryDate, limitedBy, state };
    return { ...shown, ...(refusal && { refusal }) };
  });
  return {
    cartId: cart.id,
    plan: [cart.totalCents, ...cards.map(({ id, amountCents }) => `${id}:${amountCents}`)].join(" "),
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

function refuse({ code, retryAfterSeconds }, headerOnly = false) {
  const body = {
    code,
    message: `server text for ${code}`,
    ...(!headerOnly && retryAfterSeconds && { retryAfterSeconds }),
  };
  return {
    status: statusOf[code] ?? 400,
    headers: retryAfterSeconds ? { "retry-after": String(retryAfterSeconds) } : {},
    body: JSON.stringify(body),
  };
}
