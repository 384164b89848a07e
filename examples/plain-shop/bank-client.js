/** The remainder of an order, paid on the bank's page. */

/**
 * @param {{ url: string, key: string, timeoutMs: number }} bank
 * @param {(orderId: string) => string} returnUrl where the bank sends the shopper afterwards
 */
export function createBankClient({ url, key, timeoutMs }, returnUrl) {
  /** @param {string} method @param {string} runId @param {unknown} [body] @param {string} [of] of the payment */
  const call = (method, runId, body, of = "") =>
    fetch(new URL(`/payments/${encodeURIComponent(runId)}${of}`, url), {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });

  /** @param {string} method @param {string} runId @param {unknown} [body] @param {string} [of] */
  async function ask(method, runId, body, of) {
    const response = await call(method, runId, body, of);
    if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
    return response.json();
  }

  return {
    /**
     * Opens the payment; its `runId` makes it one, however often it is asked for.
     * @param {import("@giftcard-pay/checkout").RemainderRequest} request
     * @returns {Promise<import("@giftcard-pay/checkout").RemainderAnswer>}
     */
    async authorize({ orderId, remainderCents, runId }) {
      const payment = await ask("PUT", runId, { amountCents: remainderCents, returnUrl: returnUrl(orderId) });
      if (payment.state === "open") return { status: "pending", data: { page: payment.page } };
      return { status: payment.state === "authorized" ? "authorized" : "declined" };
    },
    /** @type {import("@giftcard-pay/checkout").RemainderMethod} */
    method: {
      async status({ runId }) {
        const response = await call("GET", runId);
        // Never asked for, or it never arrived.
        if (response.status === 404) return "declined";
        if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
        const { state } = await response.json();
        return state === "open" ? "pending" : state === "authorized" ? "authorized" : "declined";
      },
      cancel: ({ runId }) => ask("DELETE", runId),
      refund: ({ runId }, { idempotencyKey: id, amountCents }) =>
        ask("POST", runId, { id, amountCents }, "/refunds"),
    },
  };
}
