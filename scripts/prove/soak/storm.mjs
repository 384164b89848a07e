// The soak's callers: each makes random calls, as a shop may, and records the answers.
import { randomUUID } from "node:crypto";

const { BASE_PATH } = await import("@giftcard-pay/client/contract");
const TIMEOUT_MS = 20_000;
const MAX_AMOUNT_CENTS = 6000;

/**
 * A call and its result. Status 0 means no answer.
 * @typedef {object} Call
 * @property {"devalue" | "cancel" | "end"} kind
 * @property {number} status
 * @property {Record<string, unknown>} body
 * @property {boolean} replayed
 * @property {string} [key]
 * @property {string} [token]
 * @property {Order} [order]
 */

/** @typedef {{ card: { cardNumber: string, pin: string }, amountCents: number }} Order */

/** Returns whether the answer leaves the outcome unknown. @param {{ status: number }} call */
export const isUnknown = ({ status }) => status === 0 || status === 500;

/**
 * @param {{ addresses: string[], company: { companyId: number, apiKey: string }, cards: Order["card"][],
 *   random: () => number }} stage
 */
export function openStorm({ addresses, company, cards, random }) {
  /** @type {Call[]} */
  const calls = [];
  /** The tokens that any caller may cancel, so that callers race. @type {string[]} */
  const tokens = [];
  /** @type {{ key: string, order: Order }[]} */
  const keyed = [];
  const pick = /** @template T @param {T[]} list */ (list) =>
    /** @type {T} */ (list[Math.floor(random() * list.length)]);
  // Prefers the latest, which other callers also use.
  const pickLate = /** @template T @param {T[]} list */ (list) => pick(random() < 0.7 ? list.slice(-40) : list);

  /**
   * @param {string} operation @param {Record<string, string | number>} parameters
   * @param {string | undefined} key @param {Pick<Call, "kind" | "key" | "token" | "order">} what
   */
  async function send(operation, parameters, key, what) {
    /** @type {Call} */
    let call;
    try {
      const response = await fetch(pick(addresses) + BASE_PATH + operation, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          ...(key === undefined ? {} : { "Idempotency-Key": key }),
        },
        body: JSON.stringify({ apikey: company.apiKey, company_id: company.companyId, ...parameters }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const replayed = response.headers.get("idempotency-replayed") === "true";
      call = { ...what, status: response.status, body: JSON.parse(await response.text()), replayed };
    } catch {
      call = { ...what, status: 0, body: {}, replayed: false };
    }
    calls.push(call);
    if (call.status === 200 && typeof call.body.cancel_token === "string" && !call.replayed) {
      tokens.push(call.body.cancel_token);
    }
    return call;
  }

  /** @param {Order} order @param {string} [key] */
  const devalue = (order, key) => {
    const { card, amountCents } = order;
    const parameters = { cardnumber: card.cardNumber, pin: card.pin, amount: amountCents };
    return send("devalue", parameters, key, {
      kind: "devalue",
      order,
      ...(key === undefined ? {} : { key }),
    });
  };
  const newOrder = () => ({ card: pick(cards), amountCents: 1 + Math.floor(random() * MAX_AMOUNT_CENTS) });
  const cancel = (/** @type {string} */ token) =>
    send("canceldevalue", { cancel_token: token }, undefined, { kind: "cancel", token });
  const end = (/** @type {string} */ key) => send("canceldevalue", {}, key, { kind: "end", key });

  function act() {
    const dice = random();
    if (dice < 0.2) return devalue(newOrder());
    if (dice < 0.45 || keyed.length === 0 || tokens.length === 0) {
      const entry = { key: randomUUID(), order: newOrder() };
      keyed.push(entry);
      return devalue(entry.order, entry.key);
    }
    if (dice < 0.6) {
      const { key, order } = pickLate(keyed);
      return devalue(order, key);
    }
    return dice < 0.8 ? cancel(pickLate(tokens)) : end(pickLate(keyed).key);
  }

  return {
    calls,
    /** Makes one call after the other until the time is over. @param {number} untilMs by performance.now() */
    async act(untilMs) {
      while (performance.now() < untilMs) {
        const { status } = await act();
        // The process is restarting: don't spin.
        if (status === 0) await new Promise((resolve) => setTimeout(resolve, 20 + random() * 80));
      }
    },
    /** Resolves every devalue with a key and an unknown outcome. */
    async settle() {
      const known = new Set(calls.filter((call) => !isUnknown(call)).map((call) => call.key));
      for (const { key } of keyed.filter((entry) => !known.has(entry.key))) {
        const call = await end(key);
        if (isUnknown(call)) throw new Error("A devalue could not be resolved although everything is running.");
      }
    },
  };
}
