import type { RemainderMethod } from "../../src/remainder.js";
import type { Gate } from "./gate.js";
import type { PayMood } from "./moods.js";
import type { Row } from "./stage.js";

/** The shop's other payment method: a simulated provider behind its real adapter and SDK. */
export const methodNames = ["stripe", "stripe-page", "mollie"] as const;
export type MethodName = (typeof methodNames)[number];

/** A fault of the next calls of an operation at the provider. A lie changes the answer; its number selects one. */
export type ProviderFault =
  | "cut-before"
  | "cut-after"
  | "late"
  | "hang-before"
  | "hang-after"
  | { readonly lie: number };

/** An event at the other payment method. */
export type MethodStep =
  | { readonly do: "provider"; readonly operation: number; readonly fault: ProviderFault; readonly times: number }
  /** Staff or the provider changes a payment that is still open, or its refund fails later. */
  | { readonly do: "meddle"; readonly how: "more" | "less" | "currency" | "fail refund"; readonly which: number };

/** Facts that the method and the books of a sequence have to agree on. */
export interface MethodBooks {
  readonly purchases: readonly Row[];
  readonly refunds: readonly Row[];
  violate(kind: string, text: string): void;
}

/** The other payment method of a sequence, with records of its own that never lie. */
export interface OtherMethod {
  /** Returns the method for a process of the shop. The process stops at the gate if it never gets an answer. */
  method(gate: Gate): RemainderMethod;
  /** Returns the `input` of a payment that goes this way. */
  inputOf(mood: PayMood): unknown;
  /** Whether the shopper pays on a page, after `pay`. */
  readonly hasPage: boolean;
  take(step: MethodStep): void;
  /** The shopper pays on the page, or gives up. */
  settle(orderId: string, state: "authorized" | "expired"): void;
  /** Makes a notification of an event: sent again, or late. Null if there was no event. */
  notification(which: number): Promise<Request | null>;
  /** The notifications that arrive in the end, whatever was lost before. */
  lastNotifications(): Promise<Request[]>;
  /** Delivers the calls that are late. */
  release(): Promise<void>;
  /** Ends all faults. */
  calm(): Promise<void>;
  /** Closes the pages that no shopper has paid on. */
  closePages(): void;
  /** Reads the books before they are compared. */
  expect(books: Pick<MethodBooks, "purchases" | "refunds">): void;
  /** Returns what it holds of an attempt's money, without what people know of. */
  heldCents(attemptId: string): number;
  /** Whether it has only given right answers about an attempt, and said that it is authorized. */
  isSureOf(attemptId: string): boolean;
  /** Whether its adapter throws such an error. */
  isOwnError(error: unknown): boolean;
  /** Checks that it has only the remainders of paid orders, and that nothing is pending. */
  check(books: MethodBooks): void;
}
