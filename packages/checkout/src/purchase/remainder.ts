import type { Purchase } from "../store/purchase-store.js";

/** The response of the shop's own payment method to a request for the remainder. Only `authorized` pays. */
export type RemainderAnswer =
  | { readonly status: "authorized" }
  | { readonly status: "declined" }
  /** The shopper pays elsewhere, such as on a bank's page. `data` is for the shop's page, such as the bank's URL. */
  | { readonly status: "pending"; readonly data?: Readonly<Record<string, unknown>> };

/** A request for the remainder of an order. */
export interface RemainderRequest {
  readonly orderId: string;
  readonly remainderCents: number;
  /** Unique to this attempt: use it as the payment's idempotency key. */
  readonly attemptId: string;
}

/**
 * The shop's own payment method. `status` and `cancel` are also called after a crash, when it is unknown whether the payment
 * was ever requested. If it was not, `status` returns "declined", and `cancel` makes sure that a delayed request with this
 * `attemptId` takes nothing, if the method supports that. Each call has to return within half of `leaseMs`; a later response
 * is ignored, and the call is repeated.
 */
export interface RemainderMethod {
  /** Returns the status of the payment. Throws if it can't be read now. */
  status(request: RemainderRequest): Promise<"authorized" | "declined" | "pending">;
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
}

/** A part of a remainder to refund. */
export interface RemainderPart {
  /** The refund's id, as given by the shop; unique within the order. */
  readonly id: string;
  /** Unique among the refunds of all orders: pass it to the bank as the refund's idempotency key. */
  readonly idempotencyKey: string;
  /** Above 0. All refunds together are never more than `remainderCents`. */
  readonly amountCents: number;
}

/** Authorizes the remainder with the shop's own method. */
export type AuthorizeRemainder = (request: RemainderRequest) => Promise<RemainderAnswer>;

/** Returns the request of a purchase. */
const requestOf = ({ orderId, remainderCents, attemptId }: Purchase): RemainderRequest => ({
  orderId,
  remainderCents,
  attemptId,
});

const statuses = ["authorized", "declined", "pending"] as const;
type Status = (typeof statuses)[number];
const isStatus = (value: unknown): value is Status => statuses.includes(value as Status);

const EXPECTED = 'has to return the status "authorized", "declined" or "pending"';

/** The functions of the method. */
type Call = "status" | "cancel" | "refund";

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
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fault = new RemainderFault(name, "timeout", `remainder.${name} did not respond within ${limitMs} ms.`);
      timer = setTimeout(() => reject(fault), limitMs);
    });
    try {
      return await Promise.race([(async () => send(method))(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    isConfigured: method !== undefined,

    /** Whether it can refund a part of a remainder. */
    canRefund: method?.refund !== undefined,

    /** Authorizes a remainder. @throws {TypeError} if the status is invalid; errors of the method */
    async authorize(
      authorize: AuthorizeRemainder | undefined,
      purchase: Purchase,
    ): Promise<{ status: Status; data: unknown }> {
      const answer: unknown = await authorize?.(requestOf(purchase));
      // Read once, so that the checked status is the one that is used.
      const { status, data } = (answer ?? {}) as { status?: unknown; data?: unknown };
      if (!isStatus(status)) throw new TypeError(`authorizeRemainder ${EXPECTED}.`);
      return { status, data };
    },

    /** Returns the status. @throws {RemainderFault} if it is invalid or late; errors of the method */
    async status(purchase: Purchase): Promise<Status> {
      const status = await call("status", (called) => called.status(requestOf(purchase)));
      if (!isStatus(status)) throw new RemainderFault("status", "no_answer", `remainder.status ${EXPECTED}.`);
      return status;
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
