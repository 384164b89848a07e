import { numberOf, type StripeForm, textOf, textsOf } from "./stripe-form.js";
import type { StripeIntents } from "./stripe-intents.js";
import { invalid, newId } from "./stripe-objects.js";

/** A refund of Stripe's, with the fields that a shop or test reads. */
export interface StripeRefund {
  readonly id: string;
  readonly object: "refund";
  readonly amount: number;
  readonly currency: string;
  readonly charge: string | null;
  readonly payment_intent: string;
  readonly metadata: Readonly<Record<string, string>>;
  status: "pending" | "succeeded" | "failed";
}

/** Stripe's refunds. One can fail after it was accepted: the money is then the shop's again. */
export class StripeRefunds {
  readonly #refunds: StripeRefund[] = [];
  readonly #intents: StripeIntents;
  readonly #tell: (type: string, refund: StripeRefund) => void;

  constructor(intents: StripeIntents, tell: (type: string, refund: StripeRefund) => void) {
    this.#intents = intents;
    this.#tell = tell;
  }

  all = (): readonly StripeRefund[] => this.#refunds;

  create(form: StripeForm, key: string | null): StripeRefund {
    const id = textOf(form, "payment_intent") ?? "";
    const amount = this.#intents.refund(id, numberOf(form, "amount"), key);
    const { latest_charge: charge, currency } = this.#intents.find(id);
    const metadata = textsOf(form, "metadata");
    const refund: StripeRefund = {
      ...{ id: newId("re"), object: "refund", amount, currency, charge },
      ...{ payment_intent: id, metadata, status: "succeeded" },
    };
    this.#refunds.push(refund);
    this.#tell("refund.created", refund);
    return refund;
  }

  /** Lists an intent's refunds, the newest first. */
  list(form: StripeForm): object {
    const intent = textOf(form, "payment_intent");
    const limit = numberOf(form, "limit") ?? 10;
    const after = textOf(form, "starting_after");
    const own = this.#refunds.filter((refund) => refund.payment_intent === intent).reverse();
    const from = after === undefined ? 0 : own.findIndex(({ id }) => id === after) + 1;
    if (limit < 1 || limit > 100) throw invalid({ param: "limit", message: "Invalid limit" });
    const data = own.slice(from, from + limit);
    return { object: "list", url: "/v1/refunds", has_more: from + limit < own.length, data };
  }

  /** Fails a refund, as the shopper's bank does days later. */
  fail(id: string): void {
    const refund = this.#refunds.find((one) => one.id === id);
    if (!refund || refund.status === "failed") throw new Error(`no refund ${id} can fail`);
    refund.status = "failed";
    this.#intents.takeBack(refund.payment_intent, refund.amount);
    this.#tell("refund.failed", refund);
  }
}
