import { numberOf, type StripeForm, textOf, textsOf } from "./stripe-form.js";
import type { StripeIntents } from "./stripe-intents.js";
import { invalid, newId, type StripeIntent } from "./stripe-objects.js";

/** A Checkout Session of Stripe's, with the fields that a shop or test reads. */
export interface StripeSession {
  readonly id: string;
  readonly object: "checkout.session";
  readonly amount_total: number;
  readonly currency: string;
  readonly client_reference_id: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly success_url: string;
  payment_intent: string | null;
  status: "open" | "complete" | "expired";
  url: string | null;
}

const nested = (form: StripeForm | undefined, ...names: string[]): StripeForm => {
  let value: string | StripeForm | undefined = form;
  for (const name of names) value = typeof value === "object" ? value[name] : undefined;
  return typeof value === "object" ? value : {};
};

/** Stripe's page for a payment: the session makes its intent when the shopper pays. */
export class StripeSessions {
  readonly #sessions = new Map<string, StripeSession>();
  readonly #intentData = new Map<string, StripeForm>();
  readonly #intents: StripeIntents;
  readonly #tell: (type: string, session: StripeSession) => void;

  constructor(intents: StripeIntents, tell: (type: string, session: StripeSession) => void) {
    this.#intents = intents;
    this.#tell = tell;
  }

  /** @throws {StripeRefusal} 404 */
  find(id: string): StripeSession {
    const session = this.#sessions.get(id);
    if (session) return session;
    throw invalid({ code: "resource_missing", param: "session", message: `No such checkout.session: '${id}'` }, 404);
  }

  create(form: StripeForm): StripeSession {
    if (textOf(form, "mode") !== "payment") throw invalid({ param: "mode", message: "Only payments are played." });
    const item = nested(form, "line_items", "0");
    const price = nested(item, "price_data");
    const amount = (numberOf(price, "unit_amount") ?? 0) * (numberOf(item, "quantity") ?? 0);
    if (amount < 50) throw invalid({ code: "amount_too_small", message: "Amount must be at least €0.50 eur" });
    const id = newId("cs_test");
    const session: StripeSession = {
      ...{ id, object: "checkout.session", amount_total: amount, currency: textOf(price, "currency") ?? "" },
      ...{ client_reference_id: textOf(form, "client_reference_id") ?? null, metadata: textsOf(form, "metadata") },
      ...{ success_url: textOf(form, "success_url") ?? "", payment_intent: null, status: "open" },
      url: `https://checkout.stripe.example/c/pay/${id}`,
    };
    this.#sessions.set(id, session);
    this.#intentData.set(id, nested(form, "payment_intent_data"));
    return session;
  }

  expire(id: string): StripeSession {
    const session = this.find(id);
    if (session.status !== "open") {
      const message = `Only Checkout Sessions with a status in ["open"] can be expired. This one has ${session.status}.`;
      throw invalid({ message });
    }
    Object.assign(session, { status: "expired", url: null });
    this.#tell("expired", session);
    return session;
  }

  /** The shopper pays on Stripe's page. @throws {StripeRefusal} 402 if the card is declined: the session stays open */
  pay(id: string, number: string): StripeIntent {
    const session = this.find(id);
    if (session.status !== "open") throw invalid({ message: "This page is no longer available." });
    const intent = this.#intentOf(session);
    this.#intents.confirm(intent.id, this.#intents.createMethod(number).id);
    if (intent.status !== "requires_action") this.#complete(session);
    return intent;
  }

  /** The shopper completes the authentication on Stripe's page. */
  authenticate(id: string): StripeIntent {
    const session = this.find(id);
    const intent = this.#intents.authenticate(session.payment_intent ?? "", true);
    this.#complete(session);
    return intent;
  }

  #complete(session: StripeSession): void {
    Object.assign(session, { status: "complete", url: null });
    this.#tell("completed", session);
  }

  #intentOf(session: StripeSession): StripeIntent {
    if (session.payment_intent !== null) return this.#intents.find(session.payment_intent);
    const data = this.#intentData.get(session.id);
    const intent = this.#intents.create({
      amount: session.amount_total,
      currency: session.currency,
      capture_method: textOf(data ?? {}, "capture_method"),
      metadata: textsOf(data ?? {}, "metadata"),
    });
    session.payment_intent = intent.id;
    return intent;
  }
}
