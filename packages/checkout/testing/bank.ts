import type { RemainderAnswer, RemainderMethod, RemainderRequest } from "../src/purchase/remainder.js";

/** A payment at the bank for tests, by the attempt that asked for it. */
export interface TestPayment {
  readonly cents: number;
  state: "open" | "authorized" | "canceled";
}

/** A bank in memory, the other payment method of a shop under test, with records of its own. */
export class TestBank {
  /**
   * How it answers the next payments: it approves, declines, sends the shopper to its page, fails, or approves and then loses
   * its answer.
   */
  mood: "approve" | "decline" | "page" | "fail" | "approve-then-fail" = "approve";
  /** Whether it can't be reached for anything but a new payment. */
  isDown = false;
  /** The attempts whose payment it was told to cancel, one entry per call. */
  readonly cancels: string[] = [];
  /** Its payments, by their attempts. */
  readonly payments = new Map<string, TestPayment>();
  /** Its refunds, by their idempotency key. */
  readonly refunds = new Map<string, { attemptId: string; cents: number }>();

  /** Requests a payment, as `method.authorize` does. */
  readonly authorize = async ({ attemptId, remainderCents }: RemainderRequest): Promise<RemainderAnswer> => {
    if (this.mood === "fail") throw new Error("the bank can't be reached");
    if (this.mood === "decline") return { status: "declined" };
    const isOpen = this.mood === "page";
    this.payments.set(attemptId, { cents: remainderCents, state: isOpen ? "open" : "authorized" });
    if (this.mood === "approve-then-fail") throw new Error("the connection was lost");
    return isOpen ? { status: "pending", data: { page: `/pay/${attemptId}` } } : { status: "authorized" };
  };

  /** The option `remainder` of `createCheckout`. */
  readonly method: RemainderMethod = {
    authorize: (request) => this.authorize(request),
    status: async ({ attemptId }) => {
      this.#answer();
      const state = this.payments.get(attemptId)?.state;
      return { status: state === "authorized" ? "authorized" : state === "open" ? "pending" : "declined" };
    },
    cancel: async ({ attemptId }) => {
      this.#answer();
      this.cancels.push(attemptId);
      const payment = this.payments.get(attemptId);
      if (payment) payment.state = "canceled";
    },
    refund: async ({ attemptId }, { idempotencyKey, amountCents }) => {
      this.#answer();
      const payment = this.payments.get(attemptId);
      if (this.refunds.has(idempotencyKey) || payment?.state === "canceled") return;
      if (payment?.state !== "authorized" || amountCents > payment.cents - this.#backCents(attemptId))
        throw new Error("the bank hasn't that much");
      this.refunds.set(idempotencyKey, { attemptId, cents: amountCents });
    },
  };

  /** Its method, with another way to authorize. */
  with(authorize: RemainderMethod["authorize"]): RemainderMethod {
    return { ...this.method, authorize };
  }

  /** The shopper pays on the bank's page. */
  pay(): void {
    for (const payment of this.payments.values()) if (payment.state === "open") payment.state = "authorized";
  }

  /** The cents that it holds of all payments, minus its refunds. */
  get heldCents(): number {
    return [...this.payments].reduce(
      (sum, [attemptId, { state, cents }]) => sum + (state === "authorized" ? cents - this.#backCents(attemptId) : 0),
      0,
    );
  }

  #answer(): void {
    if (this.isDown) throw new Error("the bank is down");
  }

  #backCents(attemptId: string): number {
    return [...this.refunds.values()].reduce((sum, part) => sum + (part.attemptId === attemptId ? part.cents : 0), 0);
  }
}
