import type { Cents } from "@giftcard-pay/client";
import type { Purchase } from "../store/purchase-store.js";

/** A payment's state at the shop's own payment method. Only `authorized` pays. */
export interface RemainderAnswer {
  /**
   * `authorized`: the money is held or taken. `pending`: the shopper pays elsewhere, such as on a bank's page. `declined`: no
   * money was taken.
   */
  readonly status: "authorized" | "declined" | "pending";
  /**
   * The amount that is authorized, in cents. If it isn't the remainder, the order is not paid, and a person has to decide.
   * Give it if the method tells it.
   */
  readonly amountCents?: number;
  /** The currency of that amount, such as `EUR`. Another one than the order's is a fault like a wrong amount. */
  readonly currency?: string;
  /** The payment's ids at the method. See `RemainderRequest.data`, which it replaces. */
  readonly data?: RemainderData;
}

/** Data that identifies a payment at the method, such as its ids. Stored with the order as JSON, so no secrets. */
export type RemainderData = Readonly<Record<string, unknown>>;

/** A request for the remainder of an order. */
export interface RemainderRequest {
  readonly orderId: string;
  readonly remainderCents: Cents;
  /** The order's currency, such as `EUR`; ISO 4217. */
  readonly currency: string;
  /** Unique to this attempt: use it as the payment's idempotency key. */
  readonly attemptId: string;
  /** The data that the method stored last, by `keep` or an answer. Null if it has stored nothing. */
  readonly data: RemainderData | null;
}

/** The additional fields of the call that authorizes a remainder. */
export interface Authorizing {
  /** The `input` of `Checkout.pay`, such as what the bank's script in the page returned. It is not stored. */
  readonly input: unknown;
  /**
   * Stores what identifies the payment. Await it before the step that can take money: then every later call gets it, also
   * after a crash.
   *
   * @throws {CheckoutError} payment_in_progress if the attempt was given up meanwhile: don't go on
   */
  keep(data: RemainderData): Promise<void>;
}

/**
 * The shop's own payment method. `status` and `cancel` are also called after a crash, when it is unknown whether the payment
 * was ever requested. If it was not, `status` returns "declined", and `cancel` makes sure that a delayed request with this
 * `attemptId` takes nothing, if the method supports that. Each call but `authorize` has to return within half of `leaseMs`; a
 * later response is ignored, and the call is repeated.
 */
export interface RemainderMethod {
  /** The least amount that it accepts, in cents: the default of `leastRemainderCents`. */
  readonly leastCents?: number;
  /** Requests the payment, once per `attemptId`. If it throws, the order is not paid, and `cancel` is called. */
  authorize(request: RemainderRequest, authorizing: Authorizing): Promise<RemainderAnswer>;
  /** Returns the status of the payment. Throws if it can't be read now. */
  status(request: RemainderRequest): Promise<RemainderAnswer>;
  /**
   * Cancels or refunds the payment: everything that was authorized or captured, minus what `refund` returned. Idempotent.
   * Throws if it fails; it is retried.
   */
  cancel(request: RemainderRequest): Promise<unknown>;
  /**
   * Refunds a part of the payment, once per `part.idempotencyKey`: a repeated call, after a crash or a lost response, refunds
   * nothing more. After `cancel` it refunds nothing. Throws if it fails; it is retried. Required if `Checkout.refund` may
   * refund a part of the remainder.
   */
  refund?(request: RemainderRequest, part: RemainderPart): Promise<unknown>;
  /**
   * Reads a notification of the method, such as Stripe's webhook. See `Checkout.webhook`.
   *
   * @returns the payment that it is about, or null if it is about something else
   * @throws if the notification isn't the method's
   */
  webhook?(request: Request): Promise<RemainderNotice | null>;
}

/** A payment that the method notifies the shop of. */
export type RemainderNotice = Pick<RemainderRequest, "orderId" | "attemptId"> & { readonly data: RemainderData };

/** A part of a remainder to refund. */
export interface RemainderPart {
  /** The refund's id, as given by the shop; unique within the order. */
  readonly id: string;
  /** Unique among the refunds of all orders: pass it to the bank as the refund's idempotency key. */
  readonly idempotencyKey: string;
  /** Above 0. All refunds together are never more than `remainderCents`. */
  readonly amountCents: Cents;
}

const parse = (data: string | null): RemainderData | null => (data === null ? null : JSON.parse(data));

/** Returns the request of a purchase. */
const requestOf = ({ orderId, remainderCents, currency, attemptId, remainderData }: Purchase): RemainderRequest => ({
  orderId,
  remainderCents,
  currency,
  attemptId,
  data: parse(remainderData),
});

const statuses = ["authorized", "declined", "pending"] as const;

/** An answer whose status and amount are checked. `data` is JSON. */
export interface CheckedAnswer {
  readonly status: RemainderAnswer["status"];
  readonly data?: string;
}

/**
 * Checks an answer. A payment of another amount or currency doesn't pay the order.
 *
 * @throws {RemainderFault} no_answer, wrong_amount, wrong_currency or wrong_data
 */
function check(name: Call, answer: unknown, purchase: Purchase): CheckedAnswer {
  // Read once, so that what is checked is what is used.
  const { status, amountCents, currency, data } = (answer ?? {}) as Partial<RemainderAnswer>;
  const refuse = (cause: string, message: string) => {
    throw new RemainderFault(name, cause, `remainder.${name} ${message}.`);
  };
  if (!statuses.includes(status as RemainderAnswer["status"]))
    refuse("no_answer", 'has to return the status "authorized", "declined" or "pending"');
  if (status !== "declined" && amountCents !== undefined && amountCents !== purchase.remainderCents)
    refuse("wrong_amount", "returned another amount than the remainder. Look at the payment, and cancel the order");
  if (status !== "declined" && currency !== undefined && String(currency).toUpperCase() !== purchase.currency)
    refuse("wrong_currency", "returned another currency than the order's. Look at the payment, and cancel the order");
  const kept = data === undefined ? {} : { data: toJson(name, data) };
  return { status: status as RemainderAnswer["status"], ...kept };
}

function toJson(name: Call, data: unknown): string {
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw new RemainderFault(name, "wrong_data", `remainder.${name} has to keep an object as data.`);
  return JSON.stringify(data);
}

/** The functions of the method. */
type Call = "authorize" | "status" | "cancel" | "refund" | "webhook";

/** A fault of the shop's own payment method: it could not return the status of a remainder, or could not refund it. */
export class RemainderFault extends Error {
  override readonly name = "RemainderFault";
  /** The call that failed and a code, such as `status:timeout`; never a message of the method. */
  readonly code: string;

  constructor(call: Call, cause: string, message: string) {
    super(message);
    this.code = `${call}:${cause}`;
  }
}

/** Returns the code or the name of an error, if that is a short word. Never its message, which may quote anything. */
function causeOf(error: unknown): string {
  const { code, name } = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  for (const word of [code, name]) if (typeof word === "string" && /^[\w-]{1,64}$/.test(word)) return word;
  return "failed";
}

/** Throws `late` if a call doesn't end in time. */
export function within<T>(limitMs: number, call: Promise<T>, late: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), limitMs);
  });
  return Promise.race([call, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Wraps the shop's method. Invalid responses, errors and timeouts become faults.
 *
 * @param limitMs the timeout of a call
 */
export function createRemainder(method: RemainderMethod | undefined, limitMs: number) {
  async function call(name: Call, send: (method: RemainderMethod) => Promise<unknown> | undefined): Promise<unknown> {
    if (!method) {
      throw new RemainderFault(name, "no_remainder", "The order has a remainder: createCheckout needs remainder.");
    }
    if (!method[name]) throw new RemainderFault(name, "no_function", `remainder.${name} is missing.`);
    const late = new RemainderFault(name, "timeout", `remainder.${name} did not respond within ${limitMs} ms.`);
    return within(limitMs, (async () => send(method))(), late);
  }

  return {
    isConfigured: method !== undefined,

    /** Whether it can refund a part of a remainder. */
    canRefund: method?.refund !== undefined,

    /**
     * Authorizes a remainder. It has no timeout: the shopper may have to wait for a bank.
     *
     * @param keep stores JSON
     * @throws {RemainderFault} if the answer is invalid; errors of the method
     */
    async authorize(purchase: Purchase, input: unknown, keep: (data: string) => Promise<void>): Promise<CheckedAnswer> {
      const authorizing = { input, keep: async (data: RemainderData) => keep(toJson("authorize", data)) };
      return check("authorize", await method?.authorize(requestOf(purchase), authorizing), purchase);
    },

    /** Returns the status. @throws {RemainderFault} if the answer is invalid or late; errors of the method */
    async status(purchase: Purchase): Promise<CheckedAnswer> {
      return check("status", await call("status", (called) => called.status(requestOf(purchase))), purchase);
    },

    /** Reads a notification. @throws as `status` */
    async webhook(request: Request): Promise<RemainderNotice | null> {
      return (await call("webhook", (called) => called.webhook?.(request))) as RemainderNotice | null;
    },

    /** Cancels it. @throws as `status` */
    async cancel(purchase: Purchase): Promise<void> {
      await call("cancel", (called) => called.cancel(requestOf(purchase)));
    },

    /** Refunds a part of it. @throws as `status` */
    async refund(purchase: Purchase, part: RemainderPart): Promise<void> {
      await call("refund", (called) => called.refund?.(requestOf(purchase), part));
    },
  };
}

/** The wrapped method of the shop. */
export type Remainder = ReturnType<typeof createRemainder>;

/** Returns the code that is stored for a failed step. */
export const faultCode = (step: string, error: unknown): string =>
  error instanceof RemainderFault ? error.code : `${step}:${causeOf(error)}`;
