// Runs random sequences of operations on the service, and compares each answer with that of a small model.
import { BASE_PATH, cents, Secret } from "@giftcard-pay/client/contract";
import fc from "fast-check";
import { createCompany } from "../dist/store/accounts.js";
import { issueCards } from "../dist/store/card-issue.js";

const CARDS = 3;
const KEYS = 6;
const STEPS_PER_RUN = 100;
const CAP_CENTS = 5000;
const ACT = { operator: "model", osUser: "model", reason: undefined };

/** Amounts are near the limits. Keys and cards are few, so that operations often share them. */
const step = fc.record({
  kind: fc.constantFrom("devalue", "devalue", "devalue", "repeat", "cancel", "cancel", "end", "balance", "block"),
  card: fc.nat(CARDS - 1),
  key: fc.option(fc.nat(KEYS - 1), { freq: 2 }),
  amountCents: fc.oneof(fc.integer({ min: 1, max: 6000 }), fc.constantFrom(1, 4999, 5000, 5001, 1_000_000)),
  which: fc.nat(1000),
});

/**
 * The model's state of a card, a deduction and a key.
 * @typedef {{ cardNumber: string, pin: string, balance: number, blocked: boolean }} Card
 * @typedef {{ card: number, cents: number, token: string, reversed: boolean }} Deduction
 * @typedef {{ closed: true } | { closed: false, card: number, asked: number, text: string, deduction: Deduction }} Key
 * @typedef {{ status: number, body: Record<string, unknown>, text: string, replayed: boolean }} Answer
 * @typedef {typeof step extends fc.Arbitrary<infer T> ? T : never} Step
 */

/**
 * Runs at least this many steps, and throws at the first answer that differs from the model's.
 * @param {{ url: string, pool: import("pg").Pool, keys: import("@giftcard-pay/service").Keyring, steps: number, seed?: number }} options
 * @returns how often each kind of answer was seen
 */
export async function runRandomOperations({ url, pool, keys, steps, seed }) {
  const account = {
    name: "Model",
    email: `model-${Math.random()}@example.nl`,
    password: new Secret("model"),
  };
  const company = await createCompany(pool, account, ACT);
  const who = { apikey: company.apiKey.reveal(), company_id: company.companyId };
  /** @type {Record<string, number>} */
  const seen = {};
  let runs = 0;
  const property = fc.asyncProperty(
    fc.array(step, { minLength: STEPS_PER_RUN, maxLength: STEPS_PER_RUN }),
    async (list) => {
      runs += 1;
      const balanceCents = cents(20_000);
      const order = { count: CARDS, balanceCents, expiryDate: "2099-12-31" };
      const issued = await issueCards(pool, keys, order, ACT);
      const model = new Model(
        issued.map((card) => ({
          cardNumber: card.cardNumber.reveal(),
          pin: card.pin.reveal(),
          balance: balanceCents,
          blocked: false,
        })),
        `run-${runs}-`,
        { url, who, pool, keys },
      );
      for (const one of list) {
        const outcome = await model.take(one);
        seen[outcome] = (seen[outcome] ?? 0) + 1;
      }
    },
  );
  await fc.assert(property, {
    numRuns: Math.ceil(steps / STEPS_PER_RUN),
    endOnFailure: true,
    ...(seed === undefined ? {} : { seed }),
  });
  return seen;
}

class Model {
  /** @type {Deduction[]} */
  #deductions = [];
  /** @type {Map<string, Key>} */
  #keys = new Map();

  /**
   * @param {Card[]} cards @param {string} prefix of this run's keys
   * @param {{ url: string, who: object, pool: import("pg").Pool, keys: import("@giftcard-pay/service").Keyring }} service
   */
  constructor(cards, prefix, service) {
    this.cards = cards;
    this.prefix = prefix;
    this.service = service;
  }

  /** Takes a step, and throws if the answer differs from the model's. @param {Step} step */
  async take(step) {
    const { kind, card, key, which } = step;
    const used = [...this.#keys.keys()];
    switch (kind) {
      case "devalue":
        return this.#devalue(card, step.amountCents, key === null ? undefined : `${this.prefix}${key}`);
      case "repeat": {
        const name = used[which % used.length];
        const known = name === undefined ? undefined : this.#keys.get(name);
        if (!known || known.closed) return "nothing to repeat";
        return this.#devalue(known.card, known.asked, name);
      }
      case "cancel":
        return this.#cancel(this.#deductions[which % this.#deductions.length]);
      case "end":
        return this.#end(`${this.prefix}${key ?? which % KEYS}`);
      case "balance":
        return this.#balance(card);
      default:
        return this.#block(card);
    }
  }

  /** @param {number} index @param {number} amount @param {string | undefined} key */
  async #devalue(index, amount, key) {
    const card = this.#card(index);
    const known = key === undefined ? undefined : this.#keys.get(key);
    const answer = await this.#call("devalue", { cardnumber: card.cardNumber, pin: card.pin, amount }, key);
    if (known?.closed) return this.#expect(answer, 409, {});
    if (known && (known.card !== index || known.asked !== amount)) return this.#expect(answer, 422, {});
    if (known) {
      if (answer.text !== known.text || !answer.replayed) throw new Error(`Not the same answer: ${answer.text}`);
      return "replayed";
    }
    if (card.blocked) return this.#expect(answer, 400, { card_status: "Blocked" });
    if (card.balance === 0) return this.#expect(answer, 400, { card_status: "No balance" });
    const taken = Math.min(amount, card.balance, CAP_CENTS);
    this.#expect(answer, 200, { amount_deducted: taken, remaining_to_pay: amount - taken });
    card.balance -= taken;
    const deduction = { card: index, cents: taken, token: String(answer.body.cancel_token), reversed: false };
    if (this.#deductions.some(({ token }) => token === deduction.token)) throw new Error("A token was given twice.");
    this.#deductions.push(deduction);
    if (key !== undefined)
      this.#keys.set(key, { closed: false, card: index, asked: amount, text: answer.text, deduction });
    return "devalued";
  }

  /** @param {Deduction | undefined} deduction */
  async #cancel(deduction) {
    const answer = await this.#call("canceldevalue", { cancel_token: deduction?.token ?? "0".repeat(64) });
    return deduction ? this.#reverse(answer, deduction) : this.#expect(answer, 404, {});
  }

  /** @param {string} key */
  async #end(key) {
    const known = this.#keys.get(key);
    const answer = await this.#call("canceldevalue", {}, key);
    if (known && !known.closed) return this.#reverse(answer, known.deduction);
    this.#keys.set(key, { closed: true });
    return this.#expect(answer, 404, {});
  }

  /** @param {Answer} answer @param {Deduction} deduction */
  #reverse(answer, deduction) {
    if (deduction.reversed) return this.#expect(answer, 409, {});
    const card = this.#card(deduction.card);
    deduction.reversed = true;
    card.balance += deduction.cents;
    this.#expect(answer, 200, { amount_refunded: deduction.cents, card_new_balance: card.balance });
    return "reversed";
  }

  /** @param {number} index */
  async #balance(index) {
    const { cardNumber, pin, balance, blocked } = this.#card(index);
    const answer = await this.#call("balance", { cardnumber: cardNumber, pin });
    const status = blocked ? "Blocked" : balance === 0 ? "No balance" : "Active";
    this.#expect(answer, 200, { balance, card_status: status });
    return "balance";
  }

  /** @param {number} index */
  async #block(index) {
    const card = this.#card(index);
    card.blocked = !card.blocked;
    const numbers = this.service.keys.cardNumbers(new Secret(card.cardNumber));
    await this.service.pool.query("update cards set blocked = $2 where number_hash = any($1)", [numbers, card.blocked]);
    return "blocked or unblocked";
  }

  #card(/** @type {number} */ index) {
    return /** @type {Card} */ (this.cards[index]);
  }

  /** @param {string} operation @param {object} parameters @param {string} [key] @returns {Promise<Answer>} */
  async #call(operation, parameters, key) {
    const response = await fetch(this.service.url + BASE_PATH + operation, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(key === undefined ? {} : { "Idempotency-Key": key }),
      },
      body: JSON.stringify({ ...this.service.who, ...parameters }),
    });
    const text = await response.text();
    const replayed = response.headers.get("idempotency-replayed") === "true";
    return { status: response.status, body: JSON.parse(text), text, replayed };
  }

  /** @param {Answer} answer @param {number} status @param {Record<string, unknown>} fields */
  #expect(answer, status, fields) {
    const same = Object.entries(fields).every(([name, value]) => answer.body[name] === value);
    if (answer.status === status && same) return String(status);
    throw new Error(`Expected ${status} ${JSON.stringify(fields)}, and the answer was ${answer.status} ${answer.text}`);
  }
}
