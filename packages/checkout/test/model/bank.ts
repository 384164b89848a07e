import type { RemainderAnswer, RemainderMethod, RemainderRequest } from "../../src/remainder.js";
import type { Gate } from "./gate.js";
import type { AskMood, PayMood } from "./moods.js";
import type { MethodBooks, MethodStep, OtherMethod } from "./other-method.js";
import { never, PlayedError } from "./played-error.js";

const garbage = [
  ...[{ status: "failed" }, "ok", undefined, null, { status: "Authorized" }, {}, true],
  ...[
    { status: "authorized", amountCents: 1 },
    { status: "authorized", currency: "USD" },
    { status: "pending", data: 1 },
  ],
];

interface Payment {
  readonly orderId: string;
  cents: number;
  state: "open" | "authorized" | "expired" | "canceled";
  /** Whether every response about it was as documented. */
  isClean: boolean;
  /** Whether `status` has ever returned "authorized". */
  isToldAuthorized: boolean;
}

/** A simulated bank, the shop's other payment method. Its records are correct, but its responses can be faulty. */
export class Bank implements OtherMethod {
  readonly hasPage = false;
  readonly payments = new Map<string, Payment>();
  readonly moods: Record<"status" | "cancel", { mood: AskMood; times: number }> = {
    status: { mood: "fail", times: 0 },
    cancel: { mood: "fail", times: 0 },
  };
  #garbageCount = 0;

  /** Fails at once or later, since a method may throw before it returns a promise. */
  #authorize(request: RemainderRequest, mood: PayMood, onHang: () => void): Promise<RemainderAnswer> {
    if (mood === "fail-at-once") throw new PlayedError("bank");
    return this.#take(mood, request, ["authorize", "decline", "page"].includes(mood), onHang);
  }

  async #take(mood: PayMood, request: RemainderRequest, isClean: boolean, onHang: () => void) {
    if (mood === "fail") throw new PlayedError("bank");
    if (mood === "decline") return { status: "declined" } as const;
    if (mood === "hang") return this.#hang<RemainderAnswer>(onHang);
    if (mood === "garbage") return this.#garbage<RemainderAnswer>();
    const payment = this.#open(request, isClean);
    if (payment.state === "canceled") return { status: "declined" } as const;
    if (mood === "page") return { status: "pending", data: { page: `/pay/${request.attemptId}` } } as const;
    payment.state = "authorized";
    if (mood === "authorize-then-fail") throw new PlayedError("bank");
    if (mood === "authorize-then-hang") return this.#hang<RemainderAnswer>(onHang);
    if (mood === "authorize-then-garbage") return this.#garbage<RemainderAnswer>();
    return { status: "authorized" } as const;
  }

  /** Returns the method for a process's checkout. `input` is the mood of a payment. */
  method(gate: Gate): RemainderMethod {
    const onHang = () => gate.wait();
    return {
      authorize: (request, { input }) => this.#authorize(request, input as PayMood, onHang),
      status: (request) => this.#ask("status", onHang, () => this.#status(request)),
      cancel: (request) => this.#ask("cancel", onHang, () => this.#cancel(request)),
    };
  }

  #ask<T>(what: "status" | "cancel", onHang: () => void, answer: () => T): Promise<T> {
    const { mood, times } = this.moods[what];
    this.moods[what].times = Math.max(0, times - 1);
    if (times === 0) return Promise.resolve().then(answer);
    if (mood === "fail") return Promise.reject(new PlayedError("bank"));
    if (mood === "fail-at-once") throw new PlayedError("bank");
    if (mood === "hang") return this.#hang<T>(onHang);
    // The result of `cancel` is ignored; only its promise counts.
    if (mood === "garbage" && what === "status") return Promise.resolve(this.#garbage<T>());
    return answer() as unknown as Promise<T>;
  }

  #hang<T>(onHang: () => void): Promise<T> {
    onHang();
    return never<T>();
  }

  #garbage<T>(): T {
    this.#garbageCount += 1;
    return garbage[this.#garbageCount % garbage.length] as T;
  }

  #open({ attemptId, orderId, remainderCents }: RemainderRequest, isClean: boolean): Payment {
    const there = this.payments.get(attemptId);
    if (there) return there;
    const payment: Payment = {
      orderId,
      cents: remainderCents,
      state: "open",
      isClean,
      isToldAuthorized: false,
    };
    this.payments.set(attemptId, payment);
    return payment;
  }

  #status({ attemptId }: RemainderRequest) {
    const payment = this.payments.get(attemptId);
    if (payment?.state === "authorized") {
      payment.isToldAuthorized = true;
      return { status: "authorized" } as const;
    }
    return { status: payment?.state === "open" ? "pending" : "declined" } as const;
  }

  #cancel(request: RemainderRequest): void {
    this.#open(request, false).state = "canceled";
  }

  /** Pays on the bank's page, or lets it expire. */
  settle(orderId: string, state: "authorized" | "expired"): void {
    for (const payment of this.payments.values())
      if (payment.orderId === orderId && payment.state === "open") payment.state = state;
  }

  inputOf = (mood: PayMood): unknown => mood;

  take(step: MethodStep): void {
    if (step.do === "bank") this.moods[step.method] = { mood: step.mood, times: step.times };
  }

  notification = async (): Promise<null> => null;
  lastNotifications = async (): Promise<never[]> => [];
  release = async (): Promise<void> => {};
  closePages(): void {}
  expect(): void {}
  isOwnError = (): boolean => false;

  isSureOf(attemptId: string): boolean {
    const payment = this.payments.get(attemptId);
    return payment?.isClean === true && payment.isToldAuthorized;
  }

  check({ purchases, violate }: MethodBooks): void {
    for (const [run, { state, cents }] of this.payments) {
      const owner = purchases.find((p) => p.attempt_id === run);
      const isPaid = owner?.state === "paid" || owner?.state === "refunded";
      if (state === "authorized" && !isPaid)
        violate("the bank holds for nothing", `${cents}, the purchase is ${owner?.state ?? "another"}`);
      if (state === "open") violate("the bank still waits", `${cents}`);
    }
  }

  heldCents(attemptId: string): number {
    const payment = this.payments.get(attemptId);
    return payment?.state === "authorized" ? payment.cents : 0;
  }

  async calm(): Promise<void> {
    this.moods.status.times = 0;
    this.moods.cancel.times = 0;
  }
}
