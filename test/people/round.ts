import type { IssuedCard } from "../faults/service.js";
import { type Moment, moments, type Scenario } from "./scenario.js";

/** What somebody did, and what was answered. */
export interface Entry {
  readonly atMs: number;
  readonly tookMs: number;
  readonly who: string;
  /** The cart that it is about; -1 for the weather. */
  readonly cart: number;
  readonly step: string;
  readonly what: string;
  /** Of the answer; 0 where the connection ended without one. */
  readonly status: number;
  /** What a completion gave. */
  readonly type: "order" | "cart" | null;
  /** Of a refusal. */
  readonly code: string | null;
  readonly message: string | null;
  readonly orderId: string | null;
  /** What the bank had been paid for the cart past the shop, when the answer came. */
  readonly paidPastShopCents: number;
  /** What an admin asked to be given back of what an order owes; 0 where it isn't about that. */
  readonly gaveCents: number;
  /** Whether cards were on the cart, when it began and when it was answered. */
  readonly hadCards: boolean;
}

/** A cart under way, as its people know it. */
export interface LivingCart {
  readonly index: number;
  readonly id: string;
  readonly itemIds: string[];
  /** The session that was started last. */
  session: { id: string; amount: number } | null;
  cardIds: string[];
  readonly began: Readonly<Record<Moment, Signal>>;
}

/** Something that happens once, or never. */
export interface Signal {
  readonly happened: Promise<boolean>;
  end(has: boolean): void;
}

/** Of what isn't an answer of a Medusa. */
export const unasked = {
  ...{ tookMs: 0, status: 200, type: null, code: null, message: null, orderId: null },
  ...{ paidPastShopCents: 0, gaveCents: 0, hadCards: false },
} as const;

export function createSignal(): Signal {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  return { happened: promise, end: resolve };
}

export const newMoments = () =>
  Object.fromEntries(moments.map((moment) => [moment, createSignal()])) as Record<Moment, Signal>;

/** A scenario that is being played: its real cards and carts, and what was said so far. */
export interface Round {
  readonly scenario: Scenario;
  readonly cards: readonly IssuedCard[];
  readonly carts: readonly LivingCart[];
  readonly entries: Entry[];
  readonly startedAt: number;
  /** How many calls the service had seen before. */
  readonly callsBefore: number;
  /** How long the Medusas' logs were before. */
  readonly logsBefore: readonly number[];
}
