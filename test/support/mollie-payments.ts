import { randomBytes } from "node:crypto";

/** An amount of Mollie's, such as `{ currency: "EUR", value: "24.98" }`. */
export interface MollieAmount {
  readonly currency: string;
  readonly value: string;
}

/** A payment of Mollie's, with the fields that a shop or test reads. */
export interface MolliePayment {
  readonly resource: "payment";
  readonly id: string;
  status: "open" | "pending" | "authorized" | "paid" | "failed" | "canceled" | "expired";
  isCancelable: boolean;
  amount: MollieAmount;
  amountCaptured?: MollieAmount;
  amountRefunded?: MollieAmount;
  amountChargedBack?: MollieAmount;
  authorizedAt?: string;
  paidAt?: string;
  readonly description: string;
  readonly redirectUrl: string;
  readonly webhookUrl?: string;
  readonly captureMode?: "automatic" | "manual";
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** A refund of Mollie's. */
export interface MollieRefund {
  readonly resource: "refund";
  readonly id: string;
  readonly paymentId: string;
  readonly amount: MollieAmount;
  readonly metadata: Readonly<Record<string, string>> | null;
  status: "queued" | "pending" | "processing" | "refunded" | "failed" | "canceled";
}

/** A response with an error status. */
export class MollieRefusal extends Error {
  readonly status: number;
  readonly field: string | undefined;
  constructor(status: number, message: string, field?: string) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

type PaymentOrder = Pick<
  MolliePayment,
  "amount" | "description" | "redirectUrl" | "webhookUrl" | "captureMode" | "metadata"
>;

const newId = (kind: string) => `${kind}_${randomBytes(6).toString("hex")}`;
const centsOf = (amount: MollieAmount | undefined) => Math.round(Number(amount?.value ?? 0) * 100);
const euros = (cents: number): MollieAmount => ({ currency: "EUR", value: (cents / 100).toFixed(2) });

/** @throws {MollieRefusal} 422 */
function checkAmount(amount: MollieAmount | undefined): void {
  if (!amount || typeof amount.currency !== "string") throw new MollieRefusal(422, "The amount is missing", "amount");
  if (!/^\d+\.\d\d$/.test(amount.value))
    throw new MollieRefusal(422, "The amount has an invalid value", "amount.value");
  if (centsOf(amount) < 1) throw new MollieRefusal(422, "The amount is lower than the minimum", "amount");
}

/** Mollie's payments and refunds, with their money in cents. */
export class MolliePayments {
  readonly #payments = new Map<string, MolliePayment>();
  readonly #refunds: MollieRefund[] = [];

  all = (): MolliePayment[] => [...this.#payments.values()];
  refunds = (): readonly MollieRefund[] => this.#refunds;

  /** Returns what the shop has of the shopper's money, held or taken. */
  heldCents(id: string): number {
    const payment = this.find(id);
    if (payment.status === "authorized") return centsOf(payment.amount);
    return payment.status === "paid" ? centsOf(payment.amountCaptured ?? payment.amount) - this.#backCents(id) : 0;
  }

  #backCents(id: string): number {
    const made = this.#refunds.filter((one) => one.paymentId === id && !["failed", "canceled"].includes(one.status));
    return made.reduce((sum, { amount }) => sum + centsOf(amount), 0);
  }

  /** @throws {MollieRefusal} 404 */
  find(id: string): MolliePayment {
    const payment = this.#payments.get(id);
    if (payment) return payment;
    throw new MollieRefusal(404, "No payment exists with token");
  }

  /** Returns a payment as Mollie answers it. */
  show(id: string): object {
    const payment = this.find(id);
    const href = (url: string) => ({ href: url, type: "text/html" });
    const checkout = payment.status === "open" ? { checkout: href(`https://mollie.example/checkout/${id}`) } : {};
    const back = this.#backCents(id);
    const refunded = back > 0 ? { amountRefunded: euros(back) } : {};
    return { ...payment, ...refunded, mode: "test", _links: { self: href(`/v2/payments/${id}`), ...checkout } };
  }

  create({ amount, description, redirectUrl, webhookUrl, captureMode, metadata }: PaymentOrder): object {
    checkAmount(amount);
    if (!description) throw new MollieRefusal(422, "The description is missing", "description");
    if (!redirectUrl) throw new MollieRefusal(422, "The redirect URL is missing", "redirectUrl");
    const host = webhookUrl === undefined ? "" : new URL(webhookUrl).hostname;
    if (host === "localhost" || host === "127.0.0.1")
      throw new MollieRefusal(422, "The webhook URL is invalid because it is unreachable", "webhookUrl");
    const id = newId("tr");
    const payment: MolliePayment = {
      ...{ resource: "payment", id, status: "open", isCancelable: false, amount, description, redirectUrl },
      ...(webhookUrl !== undefined && { webhookUrl }),
      ...(captureMode !== undefined && { captureMode }),
      metadata: metadata ?? null,
    };
    this.#payments.set(id, payment);
    return this.show(id);
  }

  /** Mollie lets a shop cancel some methods' payments, such as bank transfers. */
  allowCancel(id: string): void {
    this.find(id).isCancelable = true;
  }

  /** @throws {MollieRefusal} 422 */
  cancel(id: string): object {
    const payment = this.find(id);
    if (!payment.isCancelable) throw new MollieRefusal(422, "The payment cannot be canceled");
    Object.assign(payment, { status: "canceled", isCancelable: false });
    return this.show(id);
  }

  release(id: string): void {
    const payment = this.find(id);
    if (payment.status !== "authorized") throw new MollieRefusal(422, "The payment has no authorization");
    payment.status = "canceled";
  }

  capture(id: string): object {
    const payment = this.find(id);
    if (payment.status !== "authorized") throw new MollieRefusal(422, "The payment cannot be captured");
    Object.assign(payment, { status: "paid", amountCaptured: payment.amount, paidAt: new Date().toISOString() });
    return {
      resource: "capture",
      id: newId("cpt"),
      paymentId: id,
      amount: payment.amount,
      status: "succeeded",
      _links: {},
    };
  }

  /** @throws {MollieRefusal} 409 or 422 */
  refund(id: string, { amount, metadata }: Pick<MollieRefund, "amount" | "metadata">): object {
    const payment = this.find(id);
    checkAmount(amount);
    if (payment.status !== "paid") throw new MollieRefusal(422, "The payment cannot be refunded");
    if (amount.currency !== payment.amount.currency) throw new MollieRefusal(422, "The currency is another", "amount");
    if (centsOf(amount) > this.heldCents(id))
      throw new MollieRefusal(422, "The amount is higher than the maximum", "amount");
    const refund: MollieRefund = {
      ...{ resource: "refund", id: newId("re"), paymentId: id, amount, status: "pending" },
      metadata: metadata ?? null,
    };
    this.#refunds.push(refund);
    return { ...refund, _links: {} };
  }

  listRefunds(id: string): object {
    this.find(id);
    const refunds = this.#refunds.filter(({ paymentId }) => paymentId === id).map((one) => ({ ...one, _links: {} }));
    return { count: refunds.length, _embedded: { refunds }, _links: { self: null, previous: null, next: null } };
  }

  /** The shopper pays on Mollie's page. @param how `pending`: by a bank transfer that is on its way */
  pay(id: string, how: "paid" | "pending" | "failed" | "canceled" | "expired" = "paid"): void {
    const payment = this.find(id);
    if (payment.status !== "open" && payment.status !== "pending") throw new Error("The page is closed.");
    const isHeld = how === "paid" && payment.captureMode === "manual";
    const now = new Date().toISOString();
    const paid = how === "paid" ? { paidAt: now } : {};
    Object.assign(payment, isHeld ? { status: "authorized", authorizedAt: now } : { status: how, ...paid });
    if (!["pending"].includes(how)) payment.isCancelable = false;
  }

  /** Fails a refund, as the shopper's bank does days later. */
  failRefund(id: string): void {
    const refund = this.#refunds.find((one) => one.id === id);
    if (!refund) throw new Error(`there is no refund ${id}`);
    refund.status = "failed";
  }

  /** The shopper has the payment charged back. */
  chargeBack(id: string): void {
    const payment = this.find(id);
    payment.amountChargedBack = payment.amount;
  }

  /** The authorization expires. */
  lapse(id: string): void {
    this.find(id).status = "expired";
  }
}
