/** A history's plan: what people and jobs do, and what fails. `plans.ts` makes random ones. */

/** The parts of the world that a process calls. */
export const places = ["store", "issuer", "bank"] as const;
export type Place = (typeof places)[number];

/**
 * A fault of one call of a process:
 * - `refused`: it fails, and had no effect
 * - `lost`: it has its effect, and its answer is lost
 * - `late`: it arrives only after a while; `answered-late`: its answer arrives only after a while
 * - `twice`: it arrives again after a while
 * - `never`: it has its effect, and is never answered
 * - `garbled`: it has its effect, and its answer can't be read, or is wrong
 * - `dies`, `dies-after`: the process dies before it, or right after its effect
 * - `stalls`, `stalls-after`: the process is suspended for a while before it is sent, or after its effect
 */
export const faultKinds = [
  ...(["refused", "lost", "late", "answered-late", "twice", "never", "garbled"] as const),
  ...(["dies", "dies-after", "stalls", "stalls-after"] as const),
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** A fault of one call. */
export interface Fault {
  readonly process: number;
  readonly place: Place;
  /** The call's index among the process's calls to this place. */
  readonly nth: number;
  /** How many such calls in a row have it. */
  readonly times: number;
  readonly kind: FaultKind;
  readonly forMs: number;
}

/** How the bank answers a new payment. */
export const bankMoods = [
  ...(["approve", "page", "decline", "fail", "approve-then-fail", "keep-then-approve", "keep-then-page"] as const),
  ...(["wrong-amount", "wrong-currency", "nonsense"] as const),
] as const;
export type BankMood = (typeof bankMoods)[number];

/** The shopper's visit of the bank's page: its outcome, its time after the page was opened, and when the bank notifies the shop of it. */
export interface Visit {
  readonly outcome: "pays" | "declines" | "leaves";
  readonly afterMs: number;
  readonly noticesAfterMs: readonly number[];
}

/** Something that a person or a job does. `order`, `cart` and `card` are indexes, modulo how many there are. */
export type Act =
  | {
      readonly do: "pay";
      readonly order: number;
      readonly mood: BankMood;
      readonly visit: Visit;
      readonly cart: CartChange;
    }
  | { readonly do: "confirm" | "abandon" | "assert paid" | "paid by"; readonly order: number }
  | { readonly do: "cancel"; readonly order: number; readonly attempt: "any" | "first" }
  | {
      readonly do: "refund lines";
      readonly order: number;
      readonly id: number;
      readonly line: number;
      readonly units: number;
    }
  | {
      readonly do: "refund amount";
      readonly order: number;
      readonly id: number;
      readonly cents: number;
      readonly rule: number;
    }
  | { readonly do: "refund cards"; readonly order: number; readonly which: number | null }
  | { readonly do: "recover"; readonly deadlineMs: number | null; readonly limit: number | null }
  | { readonly do: "apply" | "spend elsewhere" | "block"; readonly order: number; readonly card: number }
  | { readonly do: "remove"; readonly order: number }
  | { readonly do: "retry purchase" | "settle remainder"; readonly order: number }
  | { readonly do: "retry charge" | "mark taken" | "mark not taken" }
  | { readonly do: "notify"; readonly order: number; readonly attempt: number };

/** How the cart differs from the one that the shopper was shown. `another`: the order is paid with a new cart, without cards. */
export type CartChange = "as shown" | "seen again" | "changed unseen" | "unknown" | "another";

/** An act at a time, in a process. */
export interface Deed {
  readonly atMs: number;
  readonly process: number;
  readonly act: Act;
}

/** An order with its cart. */
export interface PlannedOrder {
  readonly goods: number;
  /** Whether it has the previous order's cart. */
  readonly sharesCart: boolean;
  /** The cards that are applied to the cart at first. */
  readonly cards: readonly number[];
  /** Its first payment. */
  readonly payment: Deed & { readonly act: { readonly do: "pay" } };
}

/** A history: what everybody wants to do, and what goes wrong. */
export interface Plan {
  /** Decides how long each call takes, and so the order in which calls arrive. 0: each takes a millisecond. */
  readonly pace: number;
  readonly byLine: boolean;
  readonly maxChargesPerCard: number;
  readonly leastRemainderCents: number;
  /** Whether the issuer resolves devalues by their keys. */
  readonly hasKeys: boolean;
  /** Whether a cancel at the bank also prevents a later request of the same payment. */
  readonly bankRemembers: boolean;
  /** Whether the bank refuses to return money, for good. */
  readonly bankKeeps: boolean;
  /** Whether a page of the bank can still be paid on after a cancel. */
  readonly pagesStay: boolean;
  /** Whether the bank notifies the shop of every payment in the end. */
  readonly hasLastNotices: boolean;
  readonly leaseMs: number;
  /** How much longer each call to issuer and bank takes. */
  readonly slowMs: number;
  readonly cardsCents: readonly number[];
  readonly orders: readonly PlannedOrder[];
  readonly deeds: readonly Deed[];
  readonly faults: readonly Fault[];
}
