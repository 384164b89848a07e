import type { RemainderAnswer, RemainderMethod, RemainderRequest } from "../src/index.js";

/** A simulated bank: the shop's other payment method, with its own records. */
export class Bank {
  mood: "approve" | "decline" | "page" | "fail" | "approve-then-fail" = "approve";
  isDown = false;
  /** The attempts whose payment it was told to cancel, one entry per call. */
  readonly cancels: string[] = [];
  readonly payments = new Map<string, { cents: number; state: "open" | "authorized" | "canceled" }>();
  /** Its refunds, by their idempotency key. */
  readonly refunds = new Map<string, { attemptId: string; cents: number }>();

  authorize = async ({ attemptId, remainderCents }: RemainderRequest): Promise<RemainderAnswer> => {
    if (this.mood === "fail") throw new Error("the bank can't be reached");
    if (this.mood === "decline") return { status: "declined" };
    const isOpen = this.mood === "page";
    this.payments.set(attemptId, { cents: remainderCents, state: isOpen ? "open" : "authorized" });
    if (this.mood === "approve-then-fail") throw new Error("the connection was lost");
    return isOpen ? { status: "pending", data: { page: `/pay/${attemptId}` } } : { status: "authorized" };
  };

  method: RemainderMethod = {
    authorize: (request) => this.authorize(request),
    status: async ({ attemptId }) => {
      if (this.isDown) throw new Error("the bank is down");
      const state = this.payments.get(attemptId)?.state;
      return { status: state === "authorized" ? "authorized" : state === "open" ? "pending" : "declined" };
    },
    cancel: async ({ attemptId }) => {
      if (this.isDown) throw new Error("the bank is down");
      this.cancels.push(attemptId);
      const payment = this.payments.get(attemptId);
      if (payment) payment.state = "canceled";
    },
    refund: async ({ attemptId }, { idempotencyKey, amountCents }) => {
      if (this.isDown) throw new Error("the bank is down");
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

  #backCents(attemptId: string): number {
    return [...this.refunds.values()].reduce((sum, part) => sum + (part.attemptId === attemptId ? part.cents : 0), 0);
  }

  /** The shopper pays on the bank's page. */
  pay(): void {
    for (const payment of this.payments.values()) if (payment.state === "open") payment.state = "authorized";
  }

  get heldCents(): number {
    return [...this.payments].reduce(
      (sum, [attemptId, p]) => sum + (p.state === "authorized" ? p.cents - this.#backCents(attemptId) : 0),
      0,
    );
  }
}

/** Makes a gate that stops a call until it is opened. */
export function gate() {
  let open = () => {};
  let arrive = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  /** Stops here, and returns the value once the gate is open. */
  async function pass<T>(answer: T): Promise<T> {
    arrive();
    await opened;
    return answer;
  }
  return { open: () => open(), arrived, pass };
}
