import type { PaymentAlert, ProviderMethod } from "../../src/methods/stripe.js";
import type { RemainderMethod } from "../../src/remainder.js";
import type { Gate } from "./gate.js";
import type { PayMood } from "./moods.js";
import type { MethodBooks, MethodStep, OtherMethod, ProviderFault } from "./other-method.js";
import { never, PlayedError } from "./played-error.js";

/** A payment at the provider, as it really is. */
export interface ProviderPayment {
  readonly id: string;
  readonly attemptId: string;
  readonly orderId: string;
  /** The cents that the provider holds or has taken, minus its refunds. */
  readonly netCents: number;
  /** Whether the shopper can still pay it on a page. */
  readonly isOpen: boolean;
  readonly failedRefunds: readonly { readonly id: string; readonly cents: number }[];
}

/** Changes fields of an answer, given what it really is. Null empties it. */
export type Lie = (real: Readonly<Record<string, unknown>>) => Record<string, unknown> | null;

/** An operation of the provider, and how it lies. */
export interface Operation {
  readonly name: string;
  readonly lies: readonly Lie[];
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** The kept id, whose payment the shopper then knows. */
const idsOf = (data: Readonly<Record<string, unknown>>) => Object.values(data).map(String);

/** A simulated provider of a sequence, called by its real adapter. Calls fail, hang, arrive late, and answers lie. */
export abstract class SimulatedProvider implements OtherMethod {
  abstract readonly hasPage: boolean;
  protected abstract readonly operations: readonly Operation[];
  /** Messages to the shop's staff. */
  protected readonly alerts: PaymentAlert[] = [];
  /** The payments and sessions whose page the shopper can know. */
  protected readonly shown = new Set<string>();
  readonly #faults = new Map<string, { fault: ProviderFault; times: number }>();
  readonly #late: (() => Promise<unknown>)[] = [];
  readonly #inFlight = new Set<Promise<unknown>>();

  abstract inputOf(mood: PayMood): unknown;
  abstract settle(orderId: string, state: "authorized" | "expired"): void;
  abstract notification(which: number): Promise<Request | null>;
  abstract lastNotifications(): Promise<Request[]>;
  abstract closePages(): void;
  abstract isOwnError(error: unknown): boolean;
  /** Makes the adapter, whose calls of the provider pass `call`. */
  protected abstract adapter(call: Caller): ProviderMethod;
  protected abstract payments(): ProviderPayment[];
  protected abstract meddle(step: MethodStep & { do: "meddle" }): void;

  method(gate: Gate): RemainderMethod {
    const method = this.adapter((name, send) => this.#call(gate, name, send));
    return {
      ...method,
      authorize: (request, { input, keep }) =>
        method.authorize(request, {
          input,
          keep: async (data) => {
            await keep(data);
            for (const id of idsOf(data)) this.shown.add(id);
          },
        }),
    };
  }

  /** Passes a call of a process to the provider, with its fault. */
  #call<T extends object>(gate: Gate, name: string, send: () => Promise<T>): Promise<T> {
    return gate.pass(async () => {
      const fault = this.#next(name);
      if (fault === "cut-before") throw new PlayedError("bank");
      if (fault === "hang-before") return this.#hang<T>(gate);
      if (fault === "late") {
        this.#late.push(send);
        throw new PlayedError("bank");
      }
      const answering = send();
      const settled = answering.then(
        () => {},
        () => {},
      );
      this.#inFlight.add(settled);
      await settled.finally(() => this.#inFlight.delete(settled));
      if (fault === "cut-after") throw new PlayedError("bank");
      if (fault === "hang-after") return this.#hang<T>(gate);
      const answer = await answering;
      const lies = this.operations.find((operation) => operation.name === name)?.lies ?? [];
      const lie = fault !== null && typeof fault === "object" ? lies[fault.lie % Math.max(1, lies.length)] : undefined;
      return lie ? lieAbout(answer, lie) : answer;
    });
  }

  #next(name: string): ProviderFault | null {
    const set = this.#faults.get(name);
    if (!set || set.times === 0) return null;
    set.times -= 1;
    return set.fault;
  }

  #hang<T>(gate: Gate): Promise<T> {
    gate.wait();
    return never<T>();
  }

  protected setFault(name: string, fault: ProviderFault, times = 1): void {
    this.#faults.set(name, { fault, times });
  }

  take(step: MethodStep): void {
    if (step.do === "meddle") this.meddle(step);
    if (step.do !== "provider") return;
    const { name } = this.operations[step.operation % this.operations.length] as Operation;
    this.setFault(name, step.fault, step.times);
  }

  async release(): Promise<void> {
    await Promise.allSettled(this.#late.splice(0).map((send) => send()));
    await Promise.all(this.#inFlight);
  }

  async calm(): Promise<void> {
    this.#faults.clear();
  }

  /** A lie may have been told. */
  isSureOf = (): boolean => false;

  heldCents(attemptId: string): number {
    const own = this.payments().filter((payment) => payment.attemptId === attemptId);
    return sum(own.map((payment) => payment.netCents - this.#knownFailuresOf(payment)));
  }

  /** Failed refunds that weren't made again: the shop has this money, and a person was told. */
  #knownFailuresOf({ id, netCents, failedRefunds }: ProviderPayment): number {
    const told = failedRefunds.filter((refund) => this.alerts.some((alert) => alert.id === refund.id));
    const excess = netCents - (this.#expected.get(id) ?? 0);
    return excess > 0 && excess <= sum(told.map(({ cents }) => cents)) ? excess : 0;
  }

  /** The cents that the provider has of each payment by the books. */
  readonly #expected = new Map<string, number>();

  /** Reads the books before they are compared. */
  expect({ purchases, refunds }: Pick<MethodBooks, "purchases" | "refunds">): void {
    for (const { id, attemptId } of this.payments()) {
      const owner = purchases.find((purchase) => purchase.attempt_id === attemptId);
      const isPaid = owner?.state === "paid" || owner?.state === "refunded";
      const returned = refunds.filter(({ order_id }) => order_id === owner?.order_id);
      const cents = Number(owner?.remainder_cents) - sum(returned.map((refund) => Number(refund.remainder_cents)));
      this.#expected.set(id, isPaid ? cents : 0);
    }
  }

  check({ purchases, violate }: MethodBooks): void {
    for (const payment of this.payments()) {
      const { id, attemptId, netCents, isOpen } = payment;
      const cents = netCents - this.#knownFailuresOf(payment);
      const owner = purchases.find((purchase) => purchase.attempt_id === attemptId);
      const expected = this.#expected.get(id) ?? 0;
      if (cents > expected)
        violate("the provider keeps money", `${cents}, not ${expected}, the purchase is ${owner?.state ?? "another"}`);
      if (cents < expected)
        violate("the provider gave back too much", `${cents}, not ${expected}, the purchase is ${owner?.state}`);
      if (isOpen && this.shown.has(id)) violate("the provider's page is open", `the purchase is ${owner?.state}`);
    }
  }
}

/** Sends a call to the provider. */
export type Caller = <T extends object>(name: string, send: () => Promise<T>) => Promise<T>;

/** Returns an answer with other fields. A list's lie changes each item, and an empty one has none. */
function lieAbout<T extends object>(answer: T, lie: Lie): T {
  if (Array.isArray(answer)) {
    const items = answer.flatMap((item: object) => {
      const changed = lie(item as Record<string, unknown>);
      return changed === null ? [] : [withFields(item, changed)];
    });
    return items as unknown as T;
  }
  const changed = lie(answer as Record<string, unknown>);
  return changed === null ? ({} as T) : withFields(answer, changed);
}

function withFields<T extends object>(real: T, changed: Readonly<Record<string, unknown>>): T {
  return new Proxy(real, {
    get: (target, name) => (name in changed ? changed[String(name)] : Reflect.get(target, name)),
  });
}

/** An async iterator over a list that is read at once. */
export async function* eachOf<T>(list: () => Promise<T[]>): AsyncGenerator<T> {
  yield* await list();
}

export const readAll = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};
