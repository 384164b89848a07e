import type { Purchase } from "../store/purchase-store.js";

/** What the shop's own payment method says of the remainder. Only `authorized` pays. */
export type RemainderAnswer =
  | { readonly status: "authorized" }
  | { readonly status: "declined" }
  /** The shopper pays it elsewhere, such as on a bank's page; `data` is what the page needs for that. */
  | { readonly status: "pending"; readonly data?: Readonly<Record<string, unknown>> };

/** The remainder of an order, as the shop's own payment method is asked for it. */
export interface RemainderRequest {
  readonly orderId: string;
  readonly remainderCents: number;
  /** Unique to this try: use it as the payment's idempotency key. */
  readonly attemptId: string;
}

/**
 * The shop's own payment method. `status` and `cancel` are also called after a crash, when nobody knows whether the
 * payment was ever asked for: `status` then answers "declined", and `cancel` makes sure that a request of this `attemptId`
 * that is still on its way takes nothing, where the method can do that. Each has to answer within half of `leaseMs`; one
 * that answers later isn't heard, and is asked again.
 */
export interface RemainderMethod {
  /** What has become of the payment. Throws when it can't be asked now. */
  status(request: RemainderRequest): Promise<"authorized" | "declined" | "pending">;
  /**
   * Cancels or refunds whatever was authorized or captured, once: what is still there, where `refund` gave parts of it
   * back. Throws when it can't be done now: it is tried again.
   */
  cancel(request: RemainderRequest): Promise<unknown>;
  /**
   * Gives a part of what was taken back, once per `part.idempotencyKey`: asked again with the same one, after a crash or a
   * lost answer, it gives nothing more. Nor does it after `cancel`. Throws when it can't be done now: it is tried again. Needed where
   * `Checkout.refund` may give back a part of the remainder.
   */
  refund?(request: RemainderRequest, part: RemainderPart): Promise<unknown>;
}

/** A part of a remainder that goes back. */
export interface RemainderPart {
  /** The refund's id, as the shop gave it: no other refund of the order has it. */
  readonly id: string;
  /** No other refund of any order has it: give it to the bank as the refund's idempotency key. */
  readonly idempotencyKey: string;
  /** What goes back for it, above 0; with all earlier ones never more than `remainderCents`. */
  readonly amountCents: number;
}

/** Asks the shop's own method for the remainder. */
export type AuthorizeRemainder = (request: RemainderRequest) => Promise<RemainderAnswer>;

/** What is given to the method for a purchase. */
const requestOf = ({ orderId, remainderCents, attemptId }: Purchase): RemainderRequest => ({
  orderId,
  remainderCents,
  attemptId,
});

const statuses = ["authorized", "declined", "pending"] as const;
type Status = (typeof statuses)[number];
const isStatus = (value: unknown): value is Status => statuses.includes(value as Status);

const NEEDED = 'has to answer the status "authorized", "declined" or "pending"';

/** What the method is asked for. */
type Call = "status" | "cancel" | "refund";

/** A fault of the shop's own method: it can't say what became of a remainder, or can't give it back now. */
export class RemainderFault extends Error {
  override readonly name = "RemainderFault";
  /** What failed and a code, such as `status:timeout`; never a text of the method's own. */
  readonly code: string;

  constructor(what: Call, cause: string, message: string) {
    super(message);
    this.code = `${what}:${cause}`;
  }
}

/** A code or a name of an error is a short word; its message may quote anything. */
function causeOf(error: unknown): string {
  const { code, name } = (typeof error === "object" && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  for (const word of [code, name]) if (typeof word === "string" && /^[\w-]{1,64}$/.test(word)) return word;
  return "failed";
}

/**
 * The shop's method, held to what it promises: whatever else it answers, throws or never answers is a fault, and no
 * answer.
 *
 * @param limitMs how long a call may take
 */
export function createRemainder(method: RemainderMethod | undefined, limitMs: number) {
  async function call(
    what: Call,
    ask: (method: RemainderMethod) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    if (!method) {
      throw new RemainderFault(
        what,
        "no_remainder",
        "The order has a remainder: createCheckout needs remainder.",
      );
    }
    if (!method[what]) throw new RemainderFault(what, "no_function", `remainder.${what} is needed for it.`);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fault = new RemainderFault(what, "timeout", `remainder.${what} gave no answer in ${limitMs} ms.`);
      timer = setTimeout(() => reject(fault), limitMs);
    });
    try {
      return await Promise.race([(async () => ask(method))(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    isThere: method !== undefined,

    /** Whether it gives back parts of a remainder. */
    canRefund: method?.refund !== undefined,

    /** Asks for a remainder. @throws {TypeError} for an answer that is none; what it throws itself */
    async authorize(
      ask: AuthorizeRemainder | undefined,
      purchase: Purchase,
    ): Promise<{ status: Status; data: unknown }> {
      const answer: unknown = await ask?.(requestOf(purchase));
      // Read once: what was looked at is what counts, whatever becomes of the answer.
      const { status, data } = (answer ?? {}) as { status?: unknown; data?: unknown };
      if (!isStatus(status)) throw new TypeError(`authorizeRemainder ${NEEDED}.`);
      return { status, data };
    },

    /** What became of it. @throws what it throws itself; {RemainderFault} for an answer that is none, or none in time */
    async status(purchase: Purchase): Promise<Status> {
      const status = await call("status", (asked) => asked.status(requestOf(purchase)));
      if (!isStatus(status)) throw new RemainderFault("status", "no_answer", `remainder.status ${NEEDED}.`);
      return status;
    },

    /** Cancels it. @throws as `status` */
    async cancel(purchase: Purchase): Promise<void> {
      await call("cancel", (asked) => asked.cancel(requestOf(purchase)));
    },

    /** Gives a part of it back. @throws as `status` */
    async refund(purchase: Purchase, part: RemainderPart): Promise<void> {
      await call("refund", (asked) => asked.refund?.(requestOf(purchase), part));
    },
  };
}

/** The shop's method, held to what it promises. */
export type Remainder = ReturnType<typeof createRemainder>;

/** What is written down about a failed step. */
export const faultCode = (what: string, error: unknown): string =>
  error instanceof RemainderFault ? error.code : `${what}:${causeOf(error)}`;
