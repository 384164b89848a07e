/** Lets `<giftcard-pay>` use Vendure's Shop API: assign the function to the element's `transport`. */

/** How the Shop API is called. */
export interface ShopApi {
  /** The URL of the Shop API, such as `https://shop.example/shop-api`. */
  readonly url: string;
  /** Returns the headers of a call, such as `authorization` and `vendure-token`. Default: none. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** Default `include`, which sends the session's cookie. */
  readonly credentials?: RequestCredentials;
  /** Called with each response, for example to keep its header `vendure-auth-token`. */
  readonly onResponse?: (response: Response) => void;
}

const ERROR = "... on GiftcardError { code message retryAfterSeconds }";
const SUMMARY = `__typename ${ERROR} ... on GiftcardSummary {
  cartId: orderCode plan currency: currencyCode totalCents: total coveredCents: covered remainderCents: remainder
  notByCardCents: notByCard maxPerCardCents: maxPerCard maxCards environment
  cards { id lastFour amountCents: amount balanceCents: balance expiryDate limitedBy state refusal }
}`;
const QUOTE = `__typename ${ERROR} ... on GiftcardQuote {
  quoteId: id lastFour balanceCents: balance usableCents: usable limitedBy remainderCents: remainder expiryDate
}`;
const BALANCE = `__typename ${ERROR} ... on GiftcardBalance { lastFour balanceCents: balance expiryDate }`;

interface Call {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

/** Converts a call of `<giftcard-pay>` to one of the Shop API. */
function toCall(method: string, path: string, body: Record<string, unknown>): Call | null {
  const [what, id] = path.split("/").slice(-2) as [string, string];
  const call = `${method} ${what === "cards" ? "cards/id" : id}`;
  if (method === "GET") return { query: `{ answer: giftcards { ${SUMMARY} } }` };
  if (call === "DELETE cards/id")
    return {
      query: `mutation ($id: String!) { answer: removeGiftcard(id: $id) { ${SUMMARY} } }`,
      variables: { id: decodeURIComponent(id) },
    };
  const input = (type: string, name: string, fields: string): Call => ({
    query: `mutation ($input: ${type}!) { answer: ${name}(input: $input) { ${fields} } }`,
    variables: { input: body },
  });
  if (call === "POST quote") return input("GiftcardInput", "quoteGiftcard", QUOTE);
  if (call === "POST cards") return input("ApplyGiftcardInput", "applyGiftcard", SUMMARY);
  return call === "POST balance" ? input("GiftcardInput", "giftcardBalance", BALANCE) : null;
}

/** The status that `<giftcard-pay>` expects of a refusal. */
const statusOf = (code: string): number => (code === "too_many_attempts" ? 429 : code === "internal" ? 500 : 409);

/**
 * Makes the `transport` of `<giftcard-pay>` and `<giftcard-balance>`. The element's `endpoint` is any text then, and its
 * `cart` is the active order's code.
 */
export function shopApiTransport(api: ShopApi): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const { pathname } = new URL(url, "http://shop");
    const body = typeof init.body === "string" ? JSON.parse(init.body) : {};
    const call = toCall(init.method ?? "GET", pathname, body);
    if (!call) return Response.json({ code: "invalid_request" }, { status: 404 });
    const response = await fetch(api.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(await api.headers?.()) },
      body: JSON.stringify(call),
      credentials: api.credentials ?? "include",
      cache: "no-store",
      // A redirect would send card number and PIN to another address.
      redirect: "error",
      signal: init.signal ?? null,
    });
    api.onResponse?.(response);
    const { data } = (await response.json().catch(() => ({}))) as { data?: { answer?: Record<string, unknown> } };
    const { __typename, ...answer } = data?.answer ?? {};
    if (__typename === undefined) return Response.json({ code: "internal" }, { status: 500 });
    if (__typename === "GiftcardError") return Response.json(answer, { status: statusOf(String(answer.code)) });
    return Response.json(withoutNulls(answer));
  };
}

/** Removes what the Shop API has as null, and the element expects to be missing. */
function withoutNulls(answer: Record<string, unknown>): Record<string, unknown> {
  const strip = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const { cards, notByCardCents, ...rest } = answer;
  return {
    ...strip(rest),
    ...(notByCardCents ? { notByCardCents } : {}),
    ...(Array.isArray(cards) && { cards: cards.map(strip) }),
  };
}
