import { numberOf, type StripeForm, textOf, textsOf } from "./stripe-form.js";
import type { StripeIntents } from "./stripe-intents.js";
import { invalid, newId } from "./stripe-objects.js";
import type { StripeRefunds } from "./stripe-refunds.js";
import type { StripeSessions } from "./stripe-sessions.js";

export interface StripeCustomer {
  readonly id: string;
  email: string | null;
}

/** An authorized call. */
export interface StripeCall {
  /** The id in the path. */
  readonly id: string;
  readonly form: StripeForm;
  readonly key: string | null;
}

/** A route of the simulated Stripe. */
export interface StripeRoute {
  readonly pattern: RegExp;
  /** Whether a page may call it. An intent's routes also require its client secret. */
  readonly isOpen?: boolean;
  readonly fields: readonly string[];
  readonly run: (call: StripeCall) => object;
}

const INTENT_FIELDS = [
  ...["amount", "currency", "metadata", "description", "capture_method", "customer", "expand"],
  ...["payment_method", "payment_method_types", "automatic_payment_methods", "setup_future_usage"],
  "confirm",
];
const CUSTOMER_FIELDS = ["email", "name", "phone", "address", "shipping", "metadata", "expand"];

const SESSION_FIELDS = [
  ...["mode", "line_items", "client_reference_id", "success_url", "cancel_url", "metadata", "payment_intent_data"],
  ...["customer_email", "locale", "expand"],
];

/** The objects of a simulated Stripe. */
export interface StripeBooks {
  readonly intents: StripeIntents;
  readonly refunds: StripeRefunds;
  readonly sessions: StripeSessions;
  readonly customers: StripeCustomer[];
}

/** Creates the routes of Stripe's API that a shop's provider and a page call. A page may call only the open ones. */
export function createRoutes({ intents, refunds, sessions, customers }: StripeBooks): StripeRoute[] {
  const create = ({ form }: StripeCall) => {
    if (textOf(form, "confirm") === "true") throw invalid({ param: "confirm", message: "This Stripe can't do that." });
    return intents.create({
      amount: numberOf(form, "amount") ?? 0,
      currency: textOf(form, "currency") ?? "",
      capture_method: textOf(form, "capture_method"),
      customer: textOf(form, "customer"),
      description: textOf(form, "description"),
      metadata: textsOf(form, "metadata"),
      payment_method: textOf(form, "payment_method"),
    });
  };
  const createMethod = (data: StripeForm) => {
    const typed = data.card ?? data.sepa_debit;
    const number = typeof typed === "object" ? (typed.number ?? typed.iban) : undefined;
    return intents.createMethod(typeof number === "string" ? number : "");
  };
  const confirm = ({ id, form }: StripeCall) => {
    const { payment_method_data: data } = form;
    const token = textOf(form, "confirmation_token");
    const method = typeof data === "object" ? createMethod(data).id : textOf(form, "payment_method");
    return intents.confirm(id, token ?? method);
  };
  const createCustomer = ({ form }: StripeCall) => {
    const customer = { id: newId("cus"), object: "customer", email: textOf(form, "email") ?? null };
    customers.push(customer);
    return { ...customer };
  };
  const updateCustomer = ({ id, form }: StripeCall) => {
    const customer = customers.find((known) => known.id === id);
    if (!customer) throw invalid({ code: "resource_missing", message: `No such customer: '${id}'` }, 404);
    return Object.assign(customer, { email: textOf(form, "email") ?? customer.email });
  };
  const amount = ({ form }: StripeCall, name: string) => numberOf(form, name);
  const intent = "/v1/payment_intents/([a-z0-9_]+)";
  const session = "/v1/checkout/sessions/([a-z0-9_]+)";
  return [
    { pattern: /^POST \/v1\/payment_intents$/, fields: INTENT_FIELDS, run: create },
    {
      ...{ pattern: new RegExp(`^GET ${intent}$`), fields: ["expand", "client_secret"], isOpen: true },
      run: ({ id }) => intents.find(id),
    },
    {
      ...{ pattern: new RegExp(`^POST ${intent}$`), fields: ["amount", "expand"] },
      run: (call) => intents.update(call.id, amount(call, "amount")),
    },
    {
      ...{ pattern: new RegExp(`^POST ${intent}/cancel$`), fields: ["cancellation_reason", "expand"] },
      run: ({ id, key }) => intents.cancel(id, key),
    },
    {
      ...{ pattern: new RegExp(`^POST ${intent}/capture$`), fields: ["amount_to_capture", "expand"] },
      run: (call) => intents.capture(call.id, amount(call, "amount_to_capture"), call.key),
    },
    {
      ...{ pattern: new RegExp(`^POST ${intent}/confirm$`), isOpen: true, run: confirm },
      fields: [
        ...["payment_method", "payment_method_data", "confirmation_token", "client_secret", "return_url"],
        ...["use_stripe_sdk", "expand"],
      ],
    },
    {
      // Stripe has no such route: it sends the shopper to the bank's page.
      ...{
        pattern: new RegExp(`^POST ${intent}/authenticate$`),
        fields: ["client_secret", "outcome"],
        isOpen: true,
      },
      run: ({ id, form }) => intents.authenticate(id, form.outcome !== "fail"),
    },
    {
      ...{ pattern: /^POST \/v1\/payment_methods$/, fields: ["type", "card", "sepa_debit"], isOpen: true },
      run: ({ form }) => createMethod(form),
    },
    {
      ...{ pattern: /^GET \/v1\/payment_methods\/([a-z0-9_]+)$/, fields: ["expand"] },
      run: ({ id }) => intents.findMethod(id),
    },
    {
      ...{ pattern: /^POST \/v1\/refunds$/, run: ({ form, key }) => refunds.create(form, key) },
      fields: ["amount", "payment_intent", "reason", "metadata", "expand"],
    },
    {
      ...{ pattern: /^GET \/v1\/refunds$/, run: ({ form }) => refunds.list(form) },
      fields: ["payment_intent", "limit", "starting_after"],
    },
    { pattern: /^POST \/v1\/checkout\/sessions$/, fields: SESSION_FIELDS, run: ({ form }) => sessions.create(form) },
    {
      ...{ pattern: new RegExp(`^GET ${session}$`), fields: ["expand"] },
      run: ({ id }) => sessions.find(id),
    },
    {
      ...{ pattern: new RegExp(`^POST ${session}/expire$`), fields: ["expand"] },
      run: ({ id }) => sessions.expire(id),
    },
    { pattern: /^POST \/v1\/customers$/, fields: CUSTOMER_FIELDS, run: createCustomer },
    { pattern: /^POST \/v1\/customers\/([a-z0-9_]+)$/, fields: CUSTOMER_FIELDS, run: updateCustomer },
  ];
}
