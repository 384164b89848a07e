import type Stripe from "stripe";
import type { RemainderAnswer, RemainderNotice, RemainderPart, RemainderRequest } from "../purchase/remainder.js";
import { ForeignWebhook } from "../purchase/webhook.js";
import {
  checkMade,
  checkOwner,
  contradiction,
  leftOf,
  type MadeRefund,
  type MethodOptions,
  metadataOf,
  methodFault,
  ownerOf,
  type PaymentAlert,
  refundPart,
  TIMEOUT_MS,
  untilCanceled,
} from "./shared.js";

/** The options of both Stripe methods. */
export interface StripeOptions extends MethodOptions {
  /** The client of Stripe's SDK: `new Stripe(secretKey)`. */
  readonly client: Stripe;
  /** The signing secret of the webhook endpoint: `whsec_…`. */
  readonly webhookSecret: string;
}

/** Returns the request options of a call that the SDK repeats once. */
export const limitsOf = (timeoutMs = TIMEOUT_MS): Stripe.RequestOptions => ({
  timeout: Math.ceil(timeoutMs / 2),
  maxNetworkRetries: 1,
});

/** The events that can change the status of a remainder. */
const DECIDING = new Set([
  ...["amount_capturable_updated", "canceled", "payment_failed", "succeeded"].map((name) => `payment_intent.${name}`),
  ...["async_payment_failed", "async_payment_succeeded", "completed", "expired"].map(
    (name) => `checkout.session.${name}`,
  ),
]);

/** The fields that this file reads of the objects of events. */
interface EventObject {
  readonly id: string;
  readonly object: string;
  readonly metadata?: Stripe.Metadata | null;
  readonly payment_intent?: string | { readonly id: string } | null;
  readonly status?: string | null;
  readonly amount?: number;
  readonly currency?: string | null;
  readonly cancellation_reason?: string | null;
  readonly capture_method?: string;
}

/** Returns the id of an object that Stripe may have expanded. */
export const idOf = (reference: string | { readonly id: string } | null | undefined): string | undefined =>
  typeof reference === "string" ? reference : reference?.id;

/** Creates the steps that both Stripe methods do with a payment intent. @throws {TypeError} if an option is missing */
export function createIntents({ client, webhookSecret, onAlert, timeoutMs }: StripeOptions) {
  const limits = limitsOf(timeoutMs);
  if (typeof client?.paymentIntents?.create !== "function")
    throw new TypeError("stripe: client has to be new Stripe(…).");
  if (typeof webhookSecret !== "string" || webhookSecret === "")
    throw new TypeError("stripe: webhookSecret has to be the signing secret of the webhook endpoint.");

  async function read(id: string, request: RemainderRequest): Promise<Stripe.PaymentIntent> {
    const intent = await client.paymentIntents.retrieve(id, {}, limits);
    return checked(intent, request);
  }

  /** @throws if the intent isn't this attempt's, or if its status and its amounts contradict each other */
  function checked(intent: Stripe.PaymentIntent, request: RemainderRequest): Stripe.PaymentIntent {
    checkOwner(intent.metadata, request);
    const hasReceived = intent.amount_received > 0;
    if (hasReceived !== (intent.status === "succeeded")) throw contradiction();
    return intent;
  }

  const madeOf = ({ amount, status, metadata }: Stripe.Refund): MadeRefund => ({
    amountCents: amount,
    hasFailed: status === "failed" || status === "canceled",
    key: metadata?.refundKey,
  });

  async function refundsOf(id: string): Promise<MadeRefund[]> {
    const refunds: MadeRefund[] = [];
    for await (const refund of client.refunds.list({ payment_intent: id, limit: 100 }, limits))
      refunds.push(madeOf(refund));
    return refunds;
  }

  /** @param canRetry whether the shopper can still pay after a failed try */
  async function answerOf(intent: Stripe.PaymentIntent, canRetry: boolean): Promise<RemainderAnswer> {
    const currency = intent.currency.toUpperCase();
    switch (intent.status) {
      case "succeeded": {
        const amountCents = leftOf(intent.amount_received, await refundsOf(intent.id));
        return amountCents === 0 ? { status: "declined" } : { status: "authorized", amountCents, currency };
      }
      case "requires_capture":
        return { status: "authorized", amountCents: intent.amount_capturable, currency };
      case "requires_payment_method":
        return { status: canRetry ? "pending" : "declined" };
      case "requires_confirmation":
      case "requires_action":
      case "processing":
        return { status: "pending" };
      case "canceled":
        return { status: "declined" };
      default:
        throw methodFault("unknown_status", "Stripe returned a status of a payment intent that is unknown here.");
    }
  }

  /** Cancels an open intent, or refunds what is left of a paid one. @returns whether there was anything to do */
  async function cancelOnce(id: string, request: RemainderRequest): Promise<boolean> {
    const intent = await read(id, request);
    if (intent.status === "canceled") return false;
    if (intent.status !== "succeeded") {
      // If the shopper pays at this moment, Stripe refuses, and the next call refunds.
      await client.paymentIntents.cancel(id, {}, limits);
      return true;
    }
    const left = leftOf(intent.amount_received, await refundsOf(id));
    if (left < 0) throw contradiction();
    // Without an amount, Stripe refunds all that is left. Without a key: a key would repeat a refund that failed.
    const refund = { payment_intent: id, metadata: metadataOf(request) };
    if (left > 0) checkMade(madeOf(await client.refunds.create(refund, limits)));
    return left > 0;
  }

  const cancel = (id: string, request: RemainderRequest): Promise<void> => untilCanceled(() => cancelOnce(id, request));

  async function refund(id: string, request: RemainderRequest, part: RemainderPart): Promise<void> {
    const intent = await read(id, request);
    if (intent.status === "canceled") return;
    if (intent.status !== "succeeded")
      throw methodFault("not_captured", "The payment is not captured. Capture it, then refund a part.");
    const params = { payment_intent: id, metadata: metadataOf(request, part) };
    const amountCents = await refundPart(
      intent.amount_received,
      async () => (await read(id, request)).amount_received,
      () => refundsOf(id),
      part,
      async (idempotencyKey, amount) =>
        madeOf(await client.refunds.create({ ...params, amount }, { ...limits, idempotencyKey })),
    );
    const { orderId, attemptId, currency } = request;
    if (amountCents > 0) await onAlert?.({ kind: "returned_elsewhere", orderId, attemptId, id, amountCents, currency });
  }

  async function capture(id: string, request: RemainderRequest): Promise<void> {
    if ((await read(id, request)).status !== "succeeded") await client.paymentIntents.capture(id, {}, limits);
  }

  /** Returns the alert of an event, without its order. */
  function alertOf(
    type: string,
    event: EventObject,
  ): Pick<PaymentAlert, "kind" | "id" | "amountCents" | "currency"> | null {
    const { object, status, cancellation_reason: reason } = event;
    const isFailed = object === "refund" && (status === "failed" || status === "canceled");
    // A manual intent that Stripe canceled by itself had money on hold.
    const isAutomatic = reason === "automatic" || reason === "expired";
    const isExpired = type === "payment_intent.canceled" && isAutomatic && event.capture_method === "manual";
    const isDisputed = type === "charge.dispute.created";
    const kind = isFailed ? "refund_failed" : isDisputed ? "disputed" : isExpired ? "authorization_expired" : null;
    const { id, amount: amountCents = 0, currency } = event;
    return kind && { kind, id, amountCents, currency: (currency ?? "").toUpperCase() };
  }

  /** Returns the order of an event's payment. Disputes, and refunds by hand, don't have the payment's metadata. */
  async function eventOwner({ object, metadata, payment_intent }: EventObject) {
    const intentId = idOf(payment_intent);
    const owner = ownerOf(metadata);
    if (owner || intentId === undefined || (object !== "refund" && object !== "dispute")) return owner;
    return ownerOf((await client.paymentIntents.retrieve(intentId, {}, limits)).metadata);
  }

  async function webhook(request: Request): Promise<RemainderNotice | null> {
    const body = await request.text();
    const signature = request.headers.get("stripe-signature") ?? "";
    const { type, data } = await client.webhooks
      .constructEventAsync(body, signature, webhookSecret)
      .catch((): never => {
        throw new ForeignWebhook("The notification isn't signed by Stripe.");
      });
    const object = data.object as unknown as EventObject;
    const alert = alertOf(type, object);
    if (!alert && !DECIDING.has(type)) return null;
    const owner = await eventOwner(object);
    if (!owner) return null;
    if (alert) await onAlert?.({ ...alert, ...owner });
    if (!DECIDING.has(type)) return null;
    const intent = object.object === "payment_intent" ? object.id : idOf(object.payment_intent);
    const session = object.object === "checkout.session" ? { session: object.id } : {};
    return { ...owner, data: { ...session, ...(intent !== undefined && { intent }) } };
  }

  return { read, checked, answerOf, cancel, cancelOnce, refund, capture, webhook };
}
