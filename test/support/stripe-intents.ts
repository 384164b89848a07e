import { randomBytes } from "node:crypto";
import {
  invalid,
  newId,
  now,
  type StripeFault,
  type StripeIntent,
  type StripeMethod,
  StripeRefusal,
} from "./stripe-objects.js";

/** A movement on an intent, in cents: `hold` and `release` of an authorization, `take` and `give back` of money. */
export interface StripeEntry {
  readonly intentId: string;
  readonly deed: "hold" | "release" | "take" | "give back";
  readonly cents: number;
  /** The Idempotency-Key of the call; null if the shopper's page made it. */
  readonly key: string | null;
}

/** Stripe's minimum for a payment in euros. */
const LEAST_CENTS = 50;

const NEEDS_AUTHENTICATION = "4000002500003155";
const DECLINED = "4000000000000002";
/** Payment methods of Stripe's test mode, with their cards' numbers. */
const testMethods: Readonly<Record<string, string>> = {
  pm_card_visa: "4242424242424242",
  pm_card_visa_chargeDeclined: DECLINED,
  pm_card_authenticationRequired: NEEDS_AUTHENTICATION,
};
const FAILING_IBAN = "DE62370400440532013001";

/** The parameters of a new intent. */
export interface IntentOrder {
  readonly amount: number;
  readonly currency: string;
  readonly capture_method?: string;
  readonly customer?: string;
  readonly description?: string;
  readonly metadata?: Record<string, string>;
  readonly payment_method?: string;
}

const OPEN = ["requires_payment_method", "requires_confirmation", "requires_action"];

/**
 * Stripe's payment intents and their money. Each movement is an entry. An intent's held and taken amounts are sums of
 * its entries, and neither can become negative.
 */
export class StripeIntents {
  readonly entries: StripeEntry[] = [];
  readonly #intents = new Map<string, StripeIntent>();
  readonly #methods = new Map<string, StripeMethod>();
  /** The number that was entered, by payment method. No response contains it. */
  readonly #numbers = new Map<string, string>();
  /** The payment methods, by confirmation token. */
  readonly #tokens = new Map<string, string>();
  readonly #tell: (type: string, intent: StripeIntent) => void;

  /** @param tell called for each event, with the intent's current state */
  constructor(tell: (type: string, intent: StripeIntent) => void) {
    this.#tell = tell;
  }

  all = (): StripeIntent[] => [...this.#intents.values()];
  heldCents = (id: string) => this.#sum(id, "hold", "release");
  takenCents = (id: string) => this.#sum(id, "take", "give back");

  #sum(intentId: string, plus: StripeEntry["deed"], minus: StripeEntry["deed"]): number {
    const own = this.entries.filter((entry) => entry.intentId === intentId);
    const sumOf = (deed: StripeEntry["deed"]) =>
      own.reduce((sum, entry) => sum + (entry.deed === deed ? entry.cents : 0), 0);
    return sumOf(plus) - sumOf(minus);
  }

  #enter({ id }: StripeIntent, deed: StripeEntry["deed"], cents: number, key: string | null): void {
    this.entries.push({ intentId: id, deed, cents, key });
    if (this.heldCents(id) < 0 || this.takenCents(id) < 0) throw new Error(`${deed} exceeds the amount`);
  }

  /** @throws {StripeRefusal} 404 */
  find(id: string): StripeIntent {
    const intent = this.#intents.get(id);
    if (intent) return intent;
    const message = `No such payment_intent: '${id}'`;
    throw invalid({ code: "resource_missing", param: "intent", message }, 404);
  }

  /** @throws {StripeRefusal} 404 */
  findMethod(id: string): StripeMethod {
    const number = testMethods[id];
    if (number !== undefined) return this.createMethod(number);
    const method = this.#methods.get(id);
    if (method) return method;
    const message = `No such PaymentMethod: '${id}'`;
    throw invalid({ code: "resource_missing", param: "payment_method", message }, 404);
  }

  create(order: IntentOrder): StripeIntent {
    checkAmount(order.amount);
    const { payment_method: method = null } = order;
    if (method !== null) this.findMethod(method);
    const id = newId("pi");
    const intent: StripeIntent = {
      ...{ id, object: "payment_intent", amount: order.amount, amount_capturable: 0, amount_received: 0 },
      ...{
        canceled_at: null,
        cancellation_reason: null,
        capture_method: order.capture_method === "manual" ? "manual" : "automatic",
      },
      ...{ client_secret: `${id}_secret_${randomBytes(12).toString("hex")}`, created: now() },
      ...{ currency: order.currency, customer: order.customer ?? null, livemode: false },
      ...{ description: order.description ?? null, last_payment_error: null, latest_charge: null },
      ...{ metadata: order.metadata ?? {}, next_action: null, payment_method: method },
      payment_method_types: ["card"],
      status: method === null ? "requires_payment_method" : "requires_confirmation",
    };
    this.#intents.set(id, intent);
    this.#tell("created", intent);
    return intent;
  }

  /** @param amount in cents; undefined leaves it unchanged */
  update(id: string, amount: number | undefined): StripeIntent {
    const intent = this.find(id);
    if (amount === undefined || amount === intent.amount) return intent;
    if (!OPEN.includes(intent.status)) throw unexpected(intent, "amount could not be updated");
    checkAmount(amount);
    intent.amount = amount;
    return intent;
  }

  cancel(id: string, key: string | null): StripeIntent {
    const intent = this.find(id);
    if (!OPEN.includes(intent.status) && intent.status !== "requires_capture")
      throw unexpected(intent, "status could not be canceled");
    if (intent.status === "requires_capture") this.#enter(intent, "release", this.heldCents(id), key);
    Object.assign(intent, {
      status: "canceled",
      canceled_at: now(),
      amount_capturable: 0,
      next_action: null,
    });
    this.#tell("canceled", intent);
    return intent;
  }

  /** Captures an amount and releases the remainder. @param amount in cents; undefined for all */
  capture(id: string, amount: number | undefined, key: string | null): StripeIntent {
    const intent = this.find(id);
    if (intent.status !== "requires_capture") throw unexpected(intent, "charge could not be captured");
    const cents = amount ?? intent.amount_capturable;
    if (cents > intent.amount_capturable)
      throw invalid({ code: "amount_too_large", message: "Amount is greater than the amount capturable" });
    this.#enter(intent, "release", this.heldCents(id), key);
    this.#take(intent, cents, key);
    return intent;
  }

  #take(intent: StripeIntent, cents: number, key: string | null): void {
    this.#enter(intent, "take", cents, key);
    Object.assign(intent, { status: "succeeded", amount_capturable: 0, amount_received: cents });
    this.#tell("succeeded", intent);
  }

  /**
   * @param amount in cents; undefined for everything not yet refunded
   * @returns the refunded cents
   */
  refund(id: string, amount: number | undefined, key: string | null): number {
    const intent = this.find(id);
    if (intent.status !== "succeeded")
      throw invalid({ message: `The PaymentIntent ${id} does not have a successful charge to refund.` });
    const left = this.takenCents(id);
    if (left === 0) {
      const message = `Charge ${intent.latest_charge} has already been refunded.`;
      throw invalid({ code: "charge_already_refunded", message });
    }
    const cents = amount ?? left;
    if (cents < 1 || cents > left) {
      const message = `Refund amount (${cents} cents) is greater than unrefunded amount on charge (${left} cents)`;
      throw invalid({ param: "amount", message });
    }
    this.#enter(intent, "give back", cents, key);
    return cents;
  }

  /** Returns the money of a failed refund to the shop. */
  takeBack(id: string, cents: number): void {
    this.#enter(this.find(id), "take", cents, null);
  }

  /** Releases an authorization that nobody captured, as Stripe does after seven days. */
  lapse(id: string): StripeIntent {
    this.find(id).cancellation_reason = "automatic";
    return this.cancel(id, null);
  }

  /** @param typed a card number or an IBAN */
  createMethod(typed: string): StripeMethod {
    const number = typed.replaceAll(" ", "");
    const id = newId("pm");
    const last4 = number.slice(-4);
    const isCard = /^\d{16}$/.test(number);
    if (!isCard && !/^[A-Z]{2}\d{20}$/.test(number)) {
      const message = "Your card number is incorrect.";
      throw new StripeRefusal(402, { type: "card_error", code: "incorrect_number", message });
    }
    const method: StripeMethod = isCard
      ? { id, object: "payment_method", type: "card", card: { brand: "visa", last4 } }
      : { id, object: "payment_method", type: "sepa_debit", sepa_debit: { last4 } };
    this.#methods.set(id, method);
    this.#numbers.set(id, number);
    return method;
  }

  /** Makes what a page sends to its server instead of a payment method. @returns its id */
  createToken(typed: string): string {
    const token = newId("ctoken");
    this.#tokens.set(token, this.createMethod(typed).id);
    return token;
  }

  /**
   * Pays the intent.
   *
   * @param by a payment method or a confirmation token
   * @throws {StripeRefusal} 402 if it is declined
   */
  confirm(id: string, by?: string): StripeIntent {
    const intent = this.find(id);
    if (!OPEN.includes(intent.status)) throw unexpected(intent, "payment could not be confirmed");
    const method = this.findMethod(this.#tokens.get(by ?? "") ?? by ?? intent.payment_method ?? "");
    const number = this.#numbers.get(method.id);
    const isDebit = method.type === "sepa_debit";
    if (isDebit && intent.capture_method === "manual")
      throw invalid({ param: "payment_method", message: "sepa_debit can't be captured manually." });
    if (number === DECLINED)
      throw new StripeRefusal(402, {
        ...this.#fail(intent, method, declined),
        payment_intent: { ...intent },
      });
    Object.assign(intent, { payment_method: method.id, last_payment_error: null, next_action: null });
    if (number === NEEDS_AUTHENTICATION) {
      const use_stripe_sdk = { type: "three_d_secure_redirect", source: newId("payatt") };
      intent.next_action = { type: "use_stripe_sdk", use_stripe_sdk };
      intent.status = "requires_action";
      this.#tell("requires_action", intent);
    } else if (isDebit) {
      intent.status = "processing";
      this.#tell("processing", intent);
    } else this.#authorize(intent);
    return intent;
  }

  #authorize(intent: StripeIntent): void {
    Object.assign(intent, { latest_charge: newId("ch"), next_action: null });
    if (intent.capture_method === "automatic") this.#take(intent, intent.amount, null);
    else {
      this.#enter(intent, "hold", intent.amount, null);
      Object.assign(intent, { status: "requires_capture", amount_capturable: intent.amount });
      this.#tell("amount_capturable_updated", intent);
    }
  }

  /** Records a failed payment. The shopper may retry with the same intent. @returns the intent's last error */
  #fail(intent: StripeIntent, method: StripeMethod | undefined, fault: StripeFault): StripeFault {
    intent.last_payment_error = { ...fault, payment_method: method };
    Object.assign(intent, { status: "requires_payment_method", payment_method: null, next_action: null });
    this.#tell("payment_failed", intent);
    return intent.last_payment_error;
  }

  /** Ends the authentication by the shopper's bank. @param isDone whether it succeeded */
  authenticate(id: string, isDone: boolean): StripeIntent {
    const intent = this.find(id);
    if (intent.status !== "requires_action") throw unexpected(intent, "payment could not be authenticated");
    if (isDone) this.#authorize(intent);
    else this.#fail(intent, this.#methods.get(intent.payment_method ?? ""), unauthenticated);
    return intent;
  }

  /** Ends the processing of a debit. The IBAN determines whether it succeeds. */
  settle(id: string): StripeIntent {
    const intent = this.find(id);
    if (intent.status !== "processing") throw unexpected(intent, "payment could not be settled");
    const method = this.#methods.get(intent.payment_method ?? "");
    if (this.#numbers.get(method?.id ?? "") === FAILING_IBAN) this.#fail(intent, method, declined);
    else this.#authorize(intent);
    return intent;
  }
}

const declined: StripeFault = {
  ...{ type: "card_error", code: "card_declined", decline_code: "generic_decline" },
  message: "Your card was declined.",
};
const unauthenticated: StripeFault = {
  ...{ type: "invalid_request_error", code: "payment_intent_authentication_failure" },
  message: "We are unable to authenticate your payment method.",
};

/** @param what the action that this state forbids, in Stripe's words */
function unexpected(intent: StripeIntent, what: string): StripeRefusal {
  const message = `This PaymentIntent's ${what} because it has a status of ${intent.status}.`;
  return invalid({ code: "payment_intent_unexpected_state", message, payment_intent: { ...intent } });
}

function checkAmount(amount: number): void {
  if (!Number.isInteger(amount) || amount < 0)
    throw invalid({ code: "parameter_invalid_integer", param: "amount", message: "Invalid integer" });
  if (amount < LEAST_CENTS)
    throw invalid({
      code: "amount_too_small",
      param: "amount",
      message: "Amount must be at least €0.50 eur",
    });
}
