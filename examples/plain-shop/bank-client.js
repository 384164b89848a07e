/** The payment method for the remainder, on the bank's page. */

/**
 * @param {{ url: string, key: string, timeoutMs: number }} bank
 * @param {(orderId: string) => string} returnUrl the URL to which the bank redirects the shopper
 */
export function createBankClient({ url, key, timeoutMs }, returnUrl) {
  /** @param {string} method @param {string} attemptId @param {unknown} [body] @param {string} [of] of the payment */
  const call = (method, attemptId, body, of = "") =>
    fetch(new URL(`/payments/${encodeURIComponent(attemptId)}${of}`, url), {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });

  /** @param {string} method @param {string} attemptId @param {unknown} [body] @param {string} [of] */
  async function ask(method, attemptId, body, of) {
    const response = await call(method, attemptId, body, of);
    if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
    return response.json();
  }

  /** @type {import("@giftcard-pay/checkout/remainder").RemainderMethod} */
  const method = {
    // Repeated calls with one `attemptId` open a single payment.
    async authorize({ orderId, remainderCents, attemptId }) {
      const payment = await ask("PUT", attemptId, {
        amountCents: remainderCents,
        returnUrl: returnUrl(orderId),
      });
      if (payment.state === "open") return { status: "pending", data: { page: payment.page } };
      return { status: payment.state === "authorized" ? "authorized" : "declined" };
    },
    async status({ attemptId }) {
      const response = await call("GET", attemptId);
      // The payment was never requested, or the request never arrived.
      if (response.status === 404) return { status: "declined" };
      if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
      const { state } = await response.json();
      return { status: state === "open" ? "pending" : state === "authorized" ? "authorized" : "declined" };
    },
    cancel: ({ attemptId }) => ask("DELETE", attemptId),
    refund: ({ attemptId }, { idempotencyKey: id, amountCents }) =>
      ask("POST", attemptId, { id, amountCents }, "/refunds"),
  };
  return method;
}
