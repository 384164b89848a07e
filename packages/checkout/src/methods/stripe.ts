import type Stripe from "stripe";
import { checkNames } from "../option-names.js";
import type { RemainderAnswer, RemainderData, RemainderRequest } from "../purchase/remainder.js";
import {
  checkId,
  checkOwner,
  contradiction,
  dataToCapture,
  inTime,
  keptId,
  metadataOf,
  needed,
  type ProviderMethod,
  sharedNames,
  TIMEOUT_MS,
  untilCanceled,
} from "./shared.js";
import { createIntents, idOf, limitsOf, type StripeOptions } from "./stripe-intents.js";

export type { MethodOptions, PaymentAlert, ProviderMethod } from "./shared.js";
export type { StripeOptions } from "./stripe-intents.js";

/** The options of `stripe`. */
export interface StripeIntentOptions extends StripeOptions {
  /** Returns more parameters of an order's payment intent, such as `payment_method_types`, `customer` or `receipt_email`. */
  readonly parameters?: (request: RemainderRequest) => Partial<Stripe.PaymentIntentCreateParams>;
  /** Returns the page of an order to which the shopper's bank redirects. Required for `input` with such payment methods. */
  readonly returnUrl?: (orderId: string) => string;
}

/** The options of `stripeCheckout`. */
export interface StripeCheckoutOptions extends StripeOptions {
  /** Returns the page of an order to which Stripe's page redirects, paid or not. */
  readonly returnUrl: (orderId: string) => string;
  /** Returns the text that Stripe's page shows. Default: `Order` and the order's id. */
  readonly description?: (orderId: string) => string;
  /** Returns more parameters of an order's session, such as `customer_email` or `locale`. */
  readonly parameters?: (request: RemainderRequest) => Partial<Stripe.Checkout.SessionCreateParams>;
}

/** Pays the remainder by Stripe, in the shop's own page. */
export interface StripeMethod extends ProviderMethod {
  /**
   * Returns the client secret with which the page confirms a pending payment. Stripe's secret is never stored.
   *
   * @param data the `data` of a pending payment
   */
  clientSecret(data: RemainderData | null): Promise<string>;
}

/** Pays the remainder by Stripe, on Stripe's page. */
export interface StripeCheckoutMethod extends ProviderMethod {
  /**
   * Returns the URL of Stripe's page for a pending payment, or null if the shopper can't pay there any more.
   *
   * @param data the `data` of a pending payment
   */
  url(data: RemainderData | null): Promise<string | null>;
}

/** Reads `input` of `pay`. @throws {TypeError} if it isn't an id that the page can create */
function confirmationOf(input: unknown): Stripe.PaymentIntentConfirmParams | null {
  if (input === undefined || input === null) return null;
  if (typeof input === "string" && /^ctoken_\w+$/.test(input)) return { confirmation_token: input };
  if (typeof input === "string" && /^pm_\w+$/.test(input)) return { payment_method: input };
  throw new TypeError(
    "stripe: input has to be the id of a confirmation token (ctoken_…) or of a payment method (pm_…).",
  );
}

/** Stripe refuses less, in euro. */
const LEAST_CENTS = 50;

const amountOf = ({ remainderCents, currency }: RemainderRequest) => ({
  amount: remainderCents,
  currency: currency.toLowerCase(),
});

/**
 * Pays the remainder by a payment intent of Stripe, in the shop's own page. With `input`, the server confirms it; without,
 * `pay` returns `pending` and the page confirms it by its client secret.
 *
 * @throws {TypeError} naming a missing or unknown option
 */
export function stripe(options: StripeIntentOptions): StripeMethod {
  checkNames("stripe", options, [...sharedNames, "webhookSecret", "parameters", "returnUrl"]);
  const { client, captureMethod = "automatic", returnUrl, timeoutMs = TIMEOUT_MS } = options;
  const intents = createIntents(options);
  const limits = limitsOf(timeoutMs);
  const idIn = (data: RemainderData | null) => keptId(data, "intent");

  async function confirm(
    id: string,
    request: RemainderRequest,
    confirmation: Stripe.PaymentIntentConfirmParams,
  ): Promise<RemainderAnswer> {
    const { orderId, attemptId } = request;
    const return_url = returnUrl?.(orderId);
    const params = { ...confirmation, use_stripe_sdk: true, ...(return_url !== undefined && { return_url }) };
    const once = { ...limits, idempotencyKey: `${attemptId}:confirm` };
    try {
      const intent = await inTime(timeoutMs, client.paymentIntents.confirm(id, params, once));
      return await inTime(timeoutMs, intents.answerOf(intents.checked(intent, request), false));
    } catch (error) {
      // The intent is canceled next, so another try can't take money.
      if ((error as { type?: unknown }).type === "StripeCardError") return { status: "declined" };
      throw error;
    }
  }

  return {
    leastCents: LEAST_CENTS,
    async authorize(request, { input, keep }) {
      const confirmation = confirmationOf(input);
      const more = options.parameters?.(request);
      const params = {
        ...more,
        ...amountOf(request),
        capture_method: captureMethod,
        // Nothing may take money before the id is stored.
        confirm: false,
        metadata: { ...(more?.metadata as Stripe.MetadataParam), ...metadataOf(request) },
      };
      const once = { ...limits, idempotencyKey: request.attemptId };
      const { id } = await inTime(timeoutMs, client.paymentIntents.create(params, once));
      await keep({ intent: checkId(id), ...(confirmation && { confirmedBy: "shop" }) });
      return confirmation ? confirm(id, request, confirmation) : { status: "pending" };
    },
    async status(request) {
      const id = idIn(request.data);
      if (id === undefined) return { status: "declined" };
      // After a failed try, the page can ask for another payment method. The server can't.
      return intents.answerOf(await intents.read(id, request), request.data?.confirmedBy !== "shop");
    },
    async cancel(request) {
      const id = idIn(request.data);
      if (id !== undefined) await intents.cancel(id, request);
    },
    async refund(request, part) {
      await intents.refund(needed(idIn(request.data), "Stripe"), request, part);
    },
    async capture(purchase) {
      const { request, data } = dataToCapture(purchase);
      await inTime(timeoutMs, intents.capture(needed(idIn(data), "Stripe"), request));
    },
    webhook: intents.webhook,
    async clientSecret(data) {
      const read = client.paymentIntents.retrieve(needed(idIn(data), "Stripe"), {}, limits);
      const { client_secret } = await inTime(timeoutMs, read);
      return needed(client_secret, "Stripe");
    },
  };
}

/**
 * Pays the remainder on Stripe's page, by a Checkout Session. `pay` returns `pending`: redirect the shopper to `url`.
 *
 * @throws {TypeError} naming a missing or unknown option
 */
export function stripeCheckout(options: StripeCheckoutOptions): StripeCheckoutMethod {
  checkNames("stripeCheckout", options, [...sharedNames, "webhookSecret", "returnUrl", "description", "parameters"]);
  const { client, captureMethod = "automatic", returnUrl, timeoutMs = TIMEOUT_MS } = options;
  const { description = (orderId) => `Order ${orderId}` } = options;
  if (typeof returnUrl !== "function") throw new TypeError("stripeCheckout: returnUrl has to be a function.");
  const intents = createIntents(options);
  const limits = limitsOf(timeoutMs);
  const { sessions } = client.checkout;

  async function read(request: RemainderRequest): Promise<Stripe.Checkout.Session | null> {
    const id = keptId(request.data, "session");
    if (id === undefined) return null;
    const session = await sessions.retrieve(id, {}, limits);
    checkOwner(session.metadata, request);
    return session;
  }

  /** Returns the id of the intent. A session has none before the shopper pays. */
  async function intentOf(request: RemainderRequest): Promise<string | undefined> {
    return keptId(request.data, "intent") ?? idOf((await read(request))?.payment_intent);
  }

  /** Closes the page, or cancels the intent. @returns whether there was anything to do */
  async function cancelOnce(request: RemainderRequest): Promise<boolean> {
    const session = await read(request);
    const intent = idOf(session?.payment_intent) ?? keptId(request.data, "intent");
    if (session?.status === "open") {
      // If the shopper pays at this moment, Stripe refuses, and the next call refunds.
      await sessions.expire(session.id, {}, limits);
      return true;
    }
    if (intent !== undefined) return intents.cancelOnce(intent, request);
    if (session?.status !== "expired") throw contradiction();
    return false;
  }

  function paramsOf(request: RemainderRequest): Stripe.Checkout.SessionCreateParams {
    const { orderId } = request;
    const metadata = metadataOf(request);
    const { amount: unit_amount, currency } = amountOf(request);
    const price_data = { currency, unit_amount, product_data: { name: description(orderId) } };
    const more = options.parameters?.(request);
    return {
      ...more,
      mode: "payment",
      line_items: [{ quantity: 1, price_data }],
      client_reference_id: orderId,
      success_url: returnUrl(orderId),
      cancel_url: returnUrl(orderId),
      metadata: { ...(more?.metadata as Stripe.MetadataParam), ...metadata },
      payment_intent_data: { ...more?.payment_intent_data, capture_method: captureMethod, metadata },
    };
  }

  return {
    leastCents: LEAST_CENTS,
    async authorize(request, { keep }) {
      const once = { ...limits, idempotencyKey: request.attemptId };
      const { id } = await inTime(timeoutMs, sessions.create(paramsOf(request), once));
      await keep({ session: checkId(id) });
      return { status: "pending" };
    },
    async status(request) {
      const session = await read(request);
      if (!session) return { status: "declined" };
      const isOpen = session.status === "open";
      const intent = idOf(session.payment_intent);
      if (intent === undefined) return { status: isOpen ? "pending" : "declined" };
      const answer = await intents.answerOf(await intents.read(intent, request), isOpen);
      return { ...answer, data: { session: session.id, intent } };
    },
    async cancel(request) {
      if (keptId(request.data, "session") !== undefined) await untilCanceled(() => cancelOnce(request));
    },
    async refund(request, part) {
      await intents.refund(needed(await intentOf(request), "Stripe"), request, part);
    },
    async capture(purchase) {
      const { request } = dataToCapture(purchase);
      await inTime(timeoutMs, intents.capture(needed(await intentOf(request), "Stripe"), request));
    },
    webhook: intents.webhook,
    async url(data) {
      return (await inTime(timeoutMs, sessions.retrieve(needed(keptId(data, "session"), "Stripe"), {}, limits))).url;
    },
  };
}
