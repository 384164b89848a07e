import type { MollieClient, Payment, PaymentCreateParams, Refund } from "@mollie/api-client";
import { checkNames } from "../option-names.js";
import type {
  RemainderAnswer,
  RemainderData,
  RemainderNotice,
  RemainderPart,
  RemainderRequest,
} from "../purchase/remainder.js";
import { ForeignWebhook } from "../purchase/webhook.js";
import {
  checkId,
  checkMade,
  checkOwner,
  contradiction,
  dataToCapture,
  inTime,
  keptId,
  leftOf,
  type MadeRefund,
  type MethodOptions,
  metadataOf,
  methodFault,
  needed,
  ownerOf,
  type ProviderMethod,
  refundPart,
  sharedNames,
  TIMEOUT_MS,
  untilCanceled,
} from "./shared.js";

export type { MethodOptions, PaymentAlert, ProviderMethod } from "./shared.js";

/** The options of `mollie`. */
export interface MollieOptions extends MethodOptions {
  /** The client of Mollie's SDK: `createMollieClient({ apiKey })`. */
  readonly client: MollieClient;
  /** Returns the page of an order to which Mollie's page redirects, paid or not. */
  readonly returnUrl: (orderId: string) => string;
  /** The public URL of your route that calls `Checkout.webhook`. Mollie refuses `localhost`. */
  readonly webhookUrl: string;
  /** Returns the text that Mollie's page and the bank statement show. Default: `Order` and the order's id. */
  readonly description?: (orderId: string) => string;
  /** Returns more parameters of an order's payment, such as `method`, `locale` or `billingAddress`. */
  readonly parameters?: (request: RemainderRequest) => MolliePaymentParams;
}

/** The parameters of a payment that a shop can add. None of them can take money without Mollie's page. */
export type MolliePaymentParams = Partial<
  Pick<
    PaymentCreateParams,
    | "billingAddress"
    | "billingEmail"
    | "lines"
    | "locale"
    | "metadata"
    | "method"
    | "restrictPaymentMethodsToCountry"
    | "shippingAddress"
  >
>;

/** Pays the remainder by Mollie, on Mollie's page. */
export interface MollieMethod extends ProviderMethod {
  /**
   * Returns the URL of Mollie's page for a pending payment, or null if the shopper can't pay there any more.
   *
   * @param data the `data` of a pending payment
   */
  url(data: RemainderData | null): Promise<string | null>;
}

interface Amount {
  readonly currency: string;
  readonly value: string;
}

const centsOf = (amount: Amount | undefined): number => Math.round(Number(amount?.value ?? 0) * 100);
const amountOf = (cents: number, currency: string): Amount => ({ currency, value: (cents / 100).toFixed(2) });

/** The status as a string, because Mollie may add others than the SDK knows. */
const statusOf = ({ status }: Payment): string => status;

const madeOf = ({ amount, status, metadata }: Refund): MadeRefund => ({
  amountCents: centsOf(amount),
  hasFailed: status === "failed" || status === "canceled",
  key: (metadata as { refundKey?: string } | null)?.refundKey,
});

/** Returns what the shop has received, before refunds. */
const receivedOf = ({ amount, amountCaptured, amountChargedBack }: Payment): number =>
  centsOf(amountCaptured ?? amount) - centsOf(amountChargedBack);

/** @throws {TypeError} naming the option */
function checkMollieOptions(options: MollieOptions): void {
  checkNames("mollie", options, [...sharedNames, "returnUrl", "webhookUrl", "description", "parameters"]);
  const { client, returnUrl, webhookUrl } = options;
  if (typeof client?.payments?.create !== "function")
    throw new TypeError("mollie: client has to be createMollieClient({ apiKey }).");
  if (typeof returnUrl !== "function") throw new TypeError("mollie: returnUrl has to be a function.");
  if (typeof webhookUrl !== "string")
    throw new TypeError("mollie: webhookUrl has to be the URL of your webhook route.");
}

/**
 * Pays the remainder on Mollie's page. `pay` returns `pending`: redirect the shopper to `url`.
 *
 * @throws {TypeError} naming a missing or unknown option
 */
export function mollie(options: MollieOptions): MollieMethod {
  checkMollieOptions(options);
  const { client, captureMethod = "automatic", returnUrl, webhookUrl, onAlert, timeoutMs = TIMEOUT_MS } = options;
  const { description = (orderId) => `Order ${orderId}` } = options;

  async function read(id: string, request: RemainderRequest): Promise<Payment> {
    const payment = await client.payments.get(id);
    checkOwner(payment.metadata, request);
    if (payment.paidAt !== undefined && statusOf(payment) !== "paid") throw contradiction();
    return payment;
  }

  /** Mollie dates what it has received. Without the date, a second answer has to have the same status. */
  async function checkReceived(payment: Payment, date: string | undefined, request: RemainderRequest): Promise<void> {
    if (date === undefined && (await read(payment.id, request)).status !== payment.status) throw contradiction();
  }

  async function listRefunds(paymentId: string): Promise<Refund[]> {
    const refunds: Refund[] = [];
    for await (const refund of client.paymentRefunds.iterate({ paymentId })) refunds.push(refund);
    return refunds;
  }
  const refundsOf = async (paymentId: string) => (await listRefunds(paymentId)).map(madeOf);

  async function answerOf(payment: Payment, request: RemainderRequest): Promise<RemainderAnswer> {
    const { currency } = payment.amount;
    switch (statusOf(payment)) {
      case "paid": {
        await checkReceived(payment, payment.paidAt, request);
        const amountCents = leftOf(receivedOf(payment), await refundsOf(payment.id));
        return amountCents === 0 ? { status: "declined" } : { status: "authorized", amountCents, currency };
      }
      case "authorized":
        await checkReceived(payment, payment.authorizedAt, request);
        return { status: "authorized", amountCents: centsOf(payment.amount), currency };
      case "open":
      case "pending":
        return { status: "pending" };
      case "failed":
      case "canceled":
      case "expired":
        return { status: "declined" };
      default:
        throw methodFault("unknown_status", "Mollie returned a status of a payment that is unknown here.");
    }
  }

  /** @returns whether anything was left */
  async function refundRest(payment: Payment, request: RemainderRequest): Promise<boolean> {
    const left = leftOf(receivedOf(payment), await refundsOf(payment.id));
    if (left <= 0) return false;
    const amount = amountOf(left, payment.amount.currency);
    // Without a key of ours: Mollie refuses to refund more than is left, and a key would repeat a refund that failed.
    const params = { paymentId: payment.id, amount, metadata: metadataOf(request) };
    checkMade(madeOf(await client.paymentRefunds.create(params)));
    return true;
  }

  /** Cancels an open payment, or refunds what is left of a paid one. @returns whether there was anything to do */
  async function cancelOnce(id: string, request: RemainderRequest): Promise<boolean> {
    const payment = await read(id, request);
    switch (statusOf(payment)) {
      case "failed":
      case "canceled":
      case "expired":
        return false;
      case "paid":
        return refundRest(payment, request);
    }
    if (payment.isCancelable) await client.payments.cancel(id);
    else if (statusOf(payment) === "authorized") await client.payments.releaseAuthorization(id);
    else
      throw methodFault(
        "not_cancelable",
        "Mollie can't cancel this payment. It is asked again until the payment has expired or can be refunded.",
      );
    return true;
  }

  const idIn = (data: RemainderData | null) => keptId(data, "payment");

  async function tell(payment: Payment, owner: { orderId: string; attemptId: string }): Promise<void> {
    const { currency } = payment.amount;
    const chargedBack = centsOf(payment.amountChargedBack);
    if (chargedBack > 0)
      await onAlert?.({ kind: "disputed", ...owner, id: payment.id, amountCents: chargedBack, currency });
    const isExpired = statusOf(payment) === "expired" && payment.authorizedAt !== undefined;
    const amountCents = centsOf(payment.amount);
    if (isExpired) await onAlert?.({ kind: "authorization_expired", ...owner, id: payment.id, amountCents, currency });
    if (statusOf(payment) !== "paid") return;
    for (const refund of await listRefunds(payment.id)) {
      const { amountCents, hasFailed } = madeOf(refund);
      if (hasFailed) await onAlert?.({ kind: "refund_failed", ...owner, id: refund.id, amountCents, currency });
    }
  }

  return {
    async authorize(request, { keep }) {
      const { orderId, remainderCents, currency, attemptId } = request;
      const more = options.parameters?.(request);
      const params = {
        ...more,
        amount: amountOf(remainderCents, currency),
        description: description(orderId),
        redirectUrl: returnUrl(orderId),
        webhookUrl,
        metadata: { ...(more?.metadata as object | undefined), ...metadataOf(request) },
        ...(captureMethod === "manual" && { captureMode: "manual" as never }),
        idempotencyKey: attemptId,
      };
      const { id } = await inTime(timeoutMs, client.payments.create(params));
      // Before the shopper gets the URL, so that nobody can pay a payment that is not stored.
      await keep({ payment: checkId(id) });
      return { status: "pending" };
    },
    async status(request) {
      const id = idIn(request.data);
      return id === undefined ? { status: "declined" } : answerOf(await read(id, request), request);
    },
    async cancel(request) {
      const id = idIn(request.data);
      if (id !== undefined) await untilCanceled(() => cancelOnce(id, request));
    },
    async refund(request, part: RemainderPart) {
      const payment = await read(needed(idIn(request.data), "Mollie"), request);
      if (statusOf(payment) === "canceled") return;
      if (statusOf(payment) !== "paid")
        throw methodFault("not_captured", "The payment is not captured. Capture it, then refund a part.");
      const { orderId, attemptId } = request;
      const { id, amount: paid } = payment;
      const params = { paymentId: id, metadata: metadataOf(request, part) };
      const amountCents = await refundPart(
        receivedOf(payment),
        async () => receivedOf(await read(id, request)),
        () => refundsOf(id),
        part,
        async (idempotencyKey, cents) => {
          const amount = amountOf(cents, paid.currency);
          return madeOf(await client.paymentRefunds.create({ ...params, amount, idempotencyKey }));
        },
      );
      if (amountCents === 0) return;
      await onAlert?.({ kind: "returned_elsewhere", orderId, attemptId, id, amountCents, currency: paid.currency });
    },
    async capture(purchase) {
      const { request, data } = dataToCapture(purchase);
      const payment = await read(needed(idIn(data), "Mollie"), request);
      if (statusOf(payment) === "paid") return;
      const idempotencyKey = `${request.attemptId}:capture`;
      await inTime(timeoutMs, client.paymentCaptures.create({ paymentId: payment.id, idempotencyKey }));
    },
    async webhook(request): Promise<RemainderNotice | null> {
      const id = new URLSearchParams(await request.text()).get("id");
      if (id === null) throw new ForeignWebhook("The notification has no id of Mollie's.");
      // The notification isn't signed, so only the payment that Mollie returns counts.
      if (!/^tr_\w+$/.test(id)) return null;
      const payment = await client.payments.get(id).catch((error: { statusCode?: number }): null => {
        if (error.statusCode === 404) return null;
        throw error;
      });
      const owner = payment && ownerOf(payment.metadata);
      if (!owner) return null;
      await tell(payment, owner);
      return { ...owner, data: { payment: id } };
    },
    async url(data) {
      return (await inTime(timeoutMs, client.payments.get(needed(idIn(data), "Mollie")))).getCheckoutUrl() ?? null;
    },
  };
}
