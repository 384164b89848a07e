import type { RemainderAnswer, RemainderMethod, RemainderPart, RemainderRequest } from "../../src/remainder.js";
import type { Network, Process } from "./network.js";
import type { BankMood, Plan } from "./plan.js";

/** A payment as the bank's own books have it. */
export interface Payment {
  readonly orderId: string;
  readonly attemptId: string;
  /** The cents it was asked for. */
  readonly askedCents: number;
  /** The cents it takes. */
  readonly cents: number;
  state: "open" | "authorized" | "declined" | "canceled";
  /** The data that the shop was told to keep, if it has kept it. */
  kept: string | null;
  readonly isPage: boolean;
  /** Whether it was taken after a cancel of it. */
  isTakenLate: boolean;
  /** Whether the shop has canceled it while it was open. */
  isGivenUp: boolean;
  /** Whether a process has read that it is authorized. */
  isSeen: boolean;
  /** Whether the process that pays has got data to keep, in the answer. */
  isTold: boolean;
  /** Whether its answers have another amount or currency. */
  readonly lie: "amount" | "currency" | undefined;
  /** The cents it has returned, by idempotency key. */
  readonly refunds: Map<string, number>;
}

/** Watches the calls of processes to the bank. */
export interface BankWatcher {
  authorizationSent(request: RemainderRequest): void;
  cancelSent(request: RemainderRequest): void;
  refundSent(request: RemainderRequest, part: RemainderPart): void;
  violate(kind: string, text: string): void;
  /** A page was opened. */
  opened(payment: Payment, input: PayInput): void;
}

/** The `input` of a payment: tells the bank what happens. */
export interface PayInput {
  readonly mood: BankMood;
  readonly visit: unknown;
}

/** The shop's other payment method, with books of its own. */
export class Bank {
  readonly payments = new Map<string, Payment>();
  /** Cancels of payments that it didn't know. */
  readonly #canceled = new Set<string>();
  /** Whether it refuses to return anything. */
  keeps: boolean;

  constructor(
    private readonly network: Network,
    private readonly watcher: BankWatcher,
    private readonly plan: Pick<Plan, "bankRemembers" | "bankKeeps" | "pagesStay">,
  ) {
    this.keeps = plan.bankKeeps;
  }

  /** Returns how much it holds of an attempt, in euros. */
  paidCents(attemptId: string): number {
    return this.payments.get(attemptId)?.lie === "currency" ? 0 : this.heldCents(attemptId);
  }

  /** Returns how much it holds of an attempt. */
  heldCents(attemptId: string): number {
    const payment = this.payments.get(attemptId);
    return payment?.state === "authorized" ? payment.cents - backCents(payment) : 0;
  }

  /** The payments of an order. */
  ofOrder(orderId: string): Payment[] {
    return [...this.payments.values()].filter((payment) => payment.orderId === orderId);
  }

  /** Returns the method of a process. */
  of(process: Process): RemainderMethod {
    const send = <T>(name: string, onSend: () => void, act: () => T | Promise<T>, garbled?: () => T) =>
      this.network.call<T>(process, {
        ...{ place: "bank" as const, name, onSend, act, garbled, isUnlimited: name === "authorize" },
        failure: () => new Error("the bank can't be reached"),
      });
    return {
      authorize: (request, { input, keep }) => {
        const given = input as PayInput;
        if (!given.mood.startsWith("keep")) return this.#authorize(send, request, given);
        return keep({ payment: request.attemptId }).then(() => {
          const kept = { ...request, data: { payment: request.attemptId } };
          return this.#authorize(send, kept, given);
        });
      },
      status: (request) =>
        send(
          "status",
          () => this.#checkRequest("status", request),
          () => this.#status(request),
          () => undefined as never,
        ).then((answer) => this.#seen(request, answer)),
      cancel: (request) =>
        send(
          "cancel",
          () => {
            this.#checkRequest("cancel", request);
            this.watcher.cancelSent(request);
          },
          () => this.#cancel(request),
        ),
      refund: (request, part) =>
        send(
          "refund",
          () => {
            this.#checkRequest("refund", request);
            this.watcher.refundSent(request, part);
          },
          () => this.#refund(request, part),
        ),
      webhook: async (request) => (await request.json()) as never,
    };
  }

  #authorize(
    send: <T>(name: string, onSend: () => void, act: () => T, garbled?: () => T) => Promise<T>,
    request: RemainderRequest,
    input: PayInput,
  ): Promise<RemainderAnswer> {
    const onSend = () => this.watcher.authorizationSent(request);
    return send(
      "authorize",
      onSend,
      () => this.#take(request, input),
      () => ({ status: "authorised" }) as never,
    ).then((answer) => {
      const payment = this.payments.get(request.attemptId);
      if (payment) payment.isTold = answer.data !== undefined;
      return this.#seen(request, answer);
    });
  }

  /** A process gets an answer. */
  #seen({ attemptId }: RemainderRequest, answer: RemainderAnswer): RemainderAnswer {
    const payment = this.payments.get(attemptId);
    if (payment) payment.isSeen ||= answer?.status === "authorized";
    return answer;
  }

  #take(request: RemainderRequest, input: PayInput): RemainderAnswer {
    const { attemptId, orderId, remainderCents } = request;
    const { mood } = input;
    const known = this.payments.get(attemptId);
    if (known) return this.#status(request);
    if (mood === "fail") throw new Error("the bank fails");
    if (mood === "decline") return { status: "declined" };
    if (this.#canceled.has(attemptId) && this.plan.bankRemembers) return { status: "declined" };
    const lie = mood === "wrong-amount" ? "amount" : mood === "wrong-currency" ? "currency" : undefined;
    const isPage = mood.endsWith("page");
    const payment: Payment = {
      ...{ orderId, attemptId, askedCents: remainderCents, lie, isPage },
      cents: lie === "amount" ? remainderCents - 1 : remainderCents,
      state: isPage ? "open" : "authorized",
      kept: request.data && JSON.stringify(request.data),
      isTakenLate: this.#canceled.has(attemptId),
      isGivenUp: false,
      isSeen: false,
      isTold: false,
      refunds: new Map(),
    };
    this.payments.set(attemptId, payment);
    if (isPage) this.watcher.opened(payment, input);
    if (mood === "approve-then-fail") throw new Error("the bank fails");
    if (mood === "nonsense") return {} as RemainderAnswer;
    const answer: RemainderAnswer = isPage ? { status: "pending" } : this.#answerOf(payment, "authorized");
    return mood === "page" || mood === "approve" ? { ...answer, data: { page: attemptId } } : answer;
  }

  #answerOf({ cents, lie }: Payment, status: RemainderAnswer["status"]): RemainderAnswer {
    return lie === "currency" ? { status, amountCents: cents, currency: "USD" } : { status, amountCents: cents };
  }

  #status({ attemptId }: RemainderRequest): RemainderAnswer {
    const payment = this.payments.get(attemptId);
    if (payment?.state === "authorized") return this.#answerOf(payment, "authorized");
    return { status: payment?.state === "open" ? "pending" : "declined" };
  }

  #cancel({ attemptId }: RemainderRequest): void {
    const payment = this.payments.get(attemptId);
    if (!payment) {
      this.#canceled.add(attemptId);
      return;
    }
    if (this.keeps && payment.state === "authorized") throw new Error("the bank keeps it");
    payment.isGivenUp = true;
    if (payment.state === "open" && this.plan.pagesStay) return;
    payment.state = "canceled";
  }

  #refund({ attemptId }: RemainderRequest, { idempotencyKey, amountCents }: RemainderPart): void {
    const payment = this.payments.get(attemptId);
    if (payment?.refunds.has(idempotencyKey) || payment?.state === "canceled") return;
    if (this.keeps) throw new Error("the bank keeps it");
    if (payment?.state !== "authorized" || amountCents > payment.cents - backCents(payment)) {
      this.watcher.violate("refunded more than the bank holds", `${amountCents} of ${attemptId}`);
      throw new Error("the bank hasn't that much");
    }
    payment.refunds.set(idempotencyKey, amountCents);
  }

  /** Every request about a payment has that payment's cents and data. */
  #checkRequest(call: string, { attemptId, orderId, remainderCents, data }: RemainderRequest): void {
    const payment = this.payments.get(attemptId);
    if (data !== null && !JSON.stringify(data).includes(attemptId))
      this.watcher.violate("the bank is given another attempt's data", `${call}: ${JSON.stringify(data)}`);
    if (!payment) return;
    if (payment.askedCents !== remainderCents || payment.orderId !== orderId)
      this.watcher.violate(
        "the bank is asked about another amount",
        `${call}: ${remainderCents}, not ${payment.askedCents}`,
      );
    if (payment.kept !== null && !JSON.stringify(data)?.includes(attemptId))
      this.watcher.violate("the bank isn't given what it had kept", `${call}: ${JSON.stringify(data)}`);
  }
}

/** Returns how much of a payment was refunded. */
export const backCents = ({ refunds }: Payment): number => [...refunds.values()].reduce((sum, back) => sum + back, 0);
