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
  readonly runId: string;
}

/**
 * The shop's own payment method. `status` and `cancel` are also called after a crash, when nobody knows whether the
 * payment was ever asked for: `status` then answers "declined", and `cancel` makes sure that a request of this `runId`
 * that is still on its way takes nothing, where the method can do that. Each has to answer within half of `leaseMs`.
 */
export interface RemainderMethod {
  /** What has become of the payment. Throws when it can't be asked now. */
  status(request: RemainderRequest): Promise<"authorized" | "declined" | "pending">;
  /** Cancels or refunds whatever was authorized or captured, once. Throws when it can't be done now: it is tried again. */
  cancel(request: RemainderRequest): Promise<unknown>;
}

/** Asks the shop's own method for the remainder. */
export type AuthorizeRemainder = (request: RemainderRequest) => Promise<RemainderAnswer>;

/** What is given to the method for a purchase. */
const requestOf = ({ orderId, remainderCents, runId }: Purchase): RemainderRequest => ({
  orderId,
  remainderCents,
  runId,
});

const statuses = ["authorized", "declined", "pending"] as const;
type Status = (typeof statuses)[number];
const isStatus = (value: unknown): value is Status => statuses.includes(value as Status);

const NEEDED = 'has to answer the status "authorized", "declined" or "pending"';

/** A fault of the shop's own method: it can't say what became of a remainder, or can't cancel it now. */
export class RemainderFault extends Error {
  override readonly name = "RemainderFault";
  /** What failed and a code, such as `status:timeout`; never a text of the method's own. */
  readonly code: string;

  constructor(what: "status" | "cancel", cause: string, message: string) {
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
  async function call(what: "status" | "cancel", purchase: Purchase): Promise<unknown> {
    if (!method) {
      throw new RemainderFault(
        what,
        "no_remainder",
        "The order has a remainder: createCheckout needs remainder.",
      );
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fault = new RemainderFault(what, "timeout", `remainder.${what} gave no answer in ${limitMs} ms.`);
      timer = setTimeout(() => reject(fault), limitMs);
    });
    try {
      return await Promise.race([(async () => method[what](requestOf(purchase)))(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    isThere: method !== undefined,

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
      const status = await call("status", purchase);
      if (!isStatus(status)) throw new RemainderFault("status", "no_answer", `remainder.status ${NEEDED}.`);
      return status;
    },

    /** Cancels it. @throws as `status` */
    async cancel(purchase: Purchase): Promise<void> {
      await call("cancel", purchase);
    },
  };
}

/** The shop's method, held to what it promises. */
export type Remainder = ReturnType<typeof createRemainder>;

/** What is written down about a failed step. */
export const faultCode = (what: string, error: unknown): string =>
  error instanceof RemainderFault ? error.code : `${what}:${causeOf(error)}`;
