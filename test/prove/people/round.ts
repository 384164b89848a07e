import type { IssuedCard } from "../faults/service.js";
import { type Moment, moments, type Scenario } from "./scenario.js";

/** A step that an actor did, with its answer. */
export interface Entry {
  readonly atMs: number;
  readonly tookMs: number;
  readonly who: string;
  /** The index of the cart; -1 for the weather. */
  readonly cart: number;
  readonly step: string;
  readonly what: string;
  /** The HTTP status; 0 if the connection closed without an answer. */
  readonly status: number;
  /** The result of a completion. */
  readonly type: "order" | "cart" | null;
  /** The code of a refusal. */
  readonly code: string | null;
  readonly message: string | null;
  readonly orderId: string | null;
  /** The order that an admin worked on. */
  readonly workedOnOrderId: string | null;
  /** The cents that the bank held for the cart when the answer arrived, paid on the bank's own page. */
  readonly paidPastShopCents: number;
  /** The cents of an owed refund that an admin requested; 0 for any other step. */
  readonly gaveCents: number;
  /** Whether the cart had cards both when the step began and when it was answered. */
  readonly hadCards: boolean;
}

/** The current state of a cart, as its actors know it. */
export interface LivingCart {
  readonly index: number;
  readonly id: string;
  readonly itemIds: string[];
  /** The payment session that was started last. */
  session: { id: string; amount: number } | null;
  cardIds: string[];
  readonly began: Readonly<Record<Moment, Signal>>;
}

/** An event that happens once or never. */
export interface Signal {
  readonly happened: Promise<boolean>;
  end(has: boolean): void;
}

/** The default fields of an entry that is not an answer of a Medusa. */
export const unasked = {
  ...{ tookMs: 0, status: 200, type: null, code: null, message: null, orderId: null, workedOnOrderId: null },
  ...{ paidPastShopCents: 0, gaveCents: 0, hadCards: false },
} as const;

export function createSignal(): Signal {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  return { happened: promise, end: resolve };
}

export const newMoments = () =>
  Object.fromEntries(moments.map((moment) => [moment, createSignal()])) as Record<Moment, Signal>;

/** A scenario that is being played: its real cards and carts, and the log so far. */
export interface Round {
  readonly scenario: Scenario;
  readonly cards: readonly IssuedCard[];
  readonly carts: readonly LivingCart[];
  readonly entries: Entry[];
  readonly startedAt: number;
  /** The number of calls to the service before this round. */
  readonly callsBefore: number;
  /** The length of each Medusa's log before this round. */
  readonly logsBefore: readonly number[];
}
