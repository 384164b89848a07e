import fc from "fast-check";
import type { Fault } from "../../../../test/support/fault-proxy.js";
import type { RefundRule } from "../../src/index.js";
import { type Trouble, troubleKinds } from "./gate.js";
import { type PayMood, payMoods } from "./moods.js";
import type { MethodStep, ProviderFault } from "./other-method.js";

export const CARDS = 3;
export const CARTS = 2;
export const ORDERS = 2;
export const MAX_CARDS = 2;
/** The balances of cards: above and below the maximum per order. */
export const cardBalances = [1500, 4000, 7500] as const;

/** A call of the shop to its checkout, in one of its processes. */
export type Call = { readonly process: 0 | 1; readonly trouble: Trouble | null } & (
  | { readonly do: "apply"; readonly cart: number; readonly card: number }
  | { readonly do: "quote"; readonly cart: number; readonly card: number }
  | { readonly do: "apply quote"; readonly cart: number; readonly which: number }
  | { readonly do: "remove"; readonly cart: number; readonly which: number }
  | { readonly do: "list"; readonly cart: number }
  | {
      readonly do: "commit";
      readonly order: number;
      readonly cart: number;
      readonly pay: PayMood;
      readonly expect: "nothing" | "as listed" | "another";
    }
  | { readonly do: "confirm" | "abandon"; readonly order: number }
  | { readonly do: "reverse"; readonly order: number }
  | { readonly do: "refund"; readonly order: number; readonly which: number | null }
  /** A refund of a part of the order; `which` is its id. */
  | {
      readonly do: "return";
      readonly order: number;
      readonly which: number;
      readonly amountCents: number;
      readonly rule: RefundRule;
    }
  /** A notification of the other payment method. */
  | { readonly do: "notify"; readonly which: number }
  | { readonly do: "recover" }
);

/** A step: one or several concurrent calls, or an event outside of the shop. */
export type Step =
  | { readonly do: "call"; readonly calls: readonly Call[] }
  | { readonly do: "total"; readonly cart: number; readonly cents: number }
  | { readonly do: "shopper"; readonly order: number; readonly to: "authorized" | "expired" }
  | { readonly do: "clock"; readonly minutes: number }
  | { readonly do: "service"; readonly operation: string; readonly fault: Fault; readonly times: number }
  | { readonly do: "deliver late calls" }
  | MethodStep
  | { readonly do: "observers"; readonly mood: "calm" | "throw" | "reject" }
  | { readonly do: "spend elsewhere"; readonly card: number; readonly cents: number }
  | { readonly do: "block"; readonly card: number; readonly isBlocked: boolean }
  | { readonly do: "kill"; readonly process: 0 | 1 }
  | { readonly do: "thaw" };

/** The start of a sequence. */
export interface Setting {
  readonly balances: readonly number[];
  readonly totals: readonly number[];
  /** The cards that are on carts from the start. */
  readonly applied: readonly (readonly [cart: number, card: number])[];
  /** Whether an order is paid at the start. */
  readonly isBought: boolean;
}

const cents = fc.constantFrom(900, 1500, 4000, 5000, 5500, 7498, 9000, 12_000);
const process = fc.constantFrom(0 as const, 1 as const);
const cart = fc.constantFrom(0, 0, 0, 1);
const order = fc.constantFrom(0, 0, 0, 1);
const card = fc.nat(CARDS - 1);
const which = fc.nat(2);
const trouble = fc.option(fc.record({ kind: fc.constantFrom(...troubleKinds), at: fc.integer({ min: 1, max: 26 }) }), {
  freq: 2,
  nil: null,
});
const trailing = { process, trouble };
const pay = fc.constantFrom<PayMood>("authorize", "authorize", "authorize", "page", "page", ...payMoods);
const expect = fc.constantFrom("nothing" as const, "nothing" as const, "as listed" as const, "another" as const);

const commit = fc.record({ do: fc.constant("commit" as const), order, cart, pay, expect, ...trailing });
const recover = fc.record({ do: fc.constant("recover" as const), ...trailing });
const confirm = fc.record({
  do: fc.constantFrom("confirm" as const, "confirm" as const, "abandon" as const),
  order,
  ...trailing,
});
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("apply" as const), cart, card, ...trailing }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("quote" as const), cart, card, ...trailing }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("apply quote" as const), cart, which, ...trailing }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), cart, which, ...trailing }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("list" as const), cart, ...trailing }) },
  { weight: 8, arbitrary: commit },
  { weight: 3, arbitrary: confirm },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("reverse" as const), order, ...trailing }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("refund" as const), order, which: fc.option(which), ...trailing }),
  },
  { weight: 4, arbitrary: recover },
);
const faults = fc.constantFrom<Fault>("cut-before", "cut-after", "error", "busy", "garbage", "half", "late");

/** The kinds of steps of every shop, with their frequency. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: call.map((one) => ({ do: "call" as const, calls: [one] })) },
  { weight: 3, arbitrary: fc.tuple(call, call).map((calls) => ({ do: "call" as const, calls })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(commit, process)
      .map(([one, by]) => ({ do: "call" as const, calls: [one, { ...one, process: by }] })),
  },
  { weight: 1, arbitrary: fc.tuple(recover, recover).map((calls) => ({ do: "call" as const, calls })) },
  {
    weight: 1,
    arbitrary: fc.tuple(cart, process).map(([cart, process]) => ({
      do: "call" as const,
      calls: [0, 1, 2].map((card) => ({ do: "apply" as const, cart, card, process, trouble: null })),
    })),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("total" as const), cart, cents }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("shopper" as const),
      order,
      to: fc.constantFrom("authorized" as const, "authorized" as const, "expired" as const),
    }),
  },
  // After the lease of a purchase; of its charges; after a bank's page expires; after an applied card expires.
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("clock" as const),
      minutes: fc.constantFrom(3, 3, 5, 20, 40, 130),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("service" as const),
      operation: fc.constantFrom("devalue", "devalue", "canceldevalue"),
      fault: faults,
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deliver late calls" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("observers" as const),
      mood: fc.constantFrom("calm" as const, "throw" as const, "reject" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("spend elsewhere" as const),
      card,
      cents: fc.constantFrom(500, 1500, 5000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("block" as const), card, isBlocked: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("kill" as const), process }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("thaw" as const) }) },
);

const notify = fc.record({ do: fc.constant("notify" as const), which: fc.nat(5), ...trailing });
const giveBack = fc.record({
  do: fc.constant("return" as const),
  order,
  which: fc.nat(2),
  amountCents: fc.constantFrom(1, 500, 1000, 1249, 2498, 5000),
  rule: fc.constantFrom<RefundRule>("as-paid", "remainder-first", "remainder-first", "cards-first", "in-proportion"),
  ...trailing,
});
const times = fc.integer({ min: 1, max: 2 });
const providerFault: fc.Arbitrary<ProviderFault> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("cut-before" as const, "cut-after" as const, "late" as const) },
  { weight: 1, arbitrary: fc.constantFrom("hang-before" as const, "hang-after" as const) },
  { weight: 5, arbitrary: fc.record({ lie: fc.nat(30) }) },
);

const one = (call: fc.Arbitrary<Call>) => call.map((single) => ({ do: "call" as const, calls: [single] }));
const buy = commit.map((call) => ({ ...call, expect: "nothing" as const }));
const reverse = fc.record({ do: fc.constant("reverse" as const), order, ...trailing });
const aboutPayment: fc.Arbitrary<Call> = fc.oneof(buy, confirm, reverse, giveBack, notify, recover);

/** Steps with a provider: payments above all, with its notifications in any order and number, its faults and its lies. */
export const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: anyStep },
  { weight: 8, arbitrary: one(buy) },
  { weight: 2, arbitrary: one(confirm) },
  { weight: 2, arbitrary: one(reverse) },
  { weight: 3, arbitrary: one(giveBack) },
  { weight: 3, arbitrary: one(notify) },
  { weight: 3, arbitrary: one(recover) },
  { weight: 5, arbitrary: fc.tuple(aboutPayment, aboutPayment).map((calls) => ({ do: "call" as const, calls })) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("shopper" as const),
      order,
      to: fc.constantFrom("authorized" as const, "authorized" as const, "expired" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("clock" as const), minutes: fc.constantFrom(3, 5, 40) }) },
  {
    weight: 8,
    // A lie is told once: the same answer twice is the truth, as far as a shop can know.
    arbitrary: fc
      .record({ do: fc.constant("provider" as const), operation: fc.nat(9), fault: providerFault, times })
      .map((step) => (typeof step.fault === "object" ? { ...step, times: 1 } : step)),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("meddle" as const),
      how: fc.constantFrom("more" as const, "less" as const, "currency" as const, "fail refund" as const),
      which: fc.nat(3),
    }),
  },
);

/** The settings of sequences. Their orders have a remainder. */
export const settings: fc.Arbitrary<Setting> = fc.record({
  balances: fc.array(fc.constantFrom(...cardBalances), { minLength: CARDS, maxLength: CARDS }),
  totals: fc.array(fc.constantFrom(5500, 7498, 9000, 12_000), { minLength: CARTS, maxLength: CARTS }),
  isBought: fc.boolean(),
  applied: fc.constantFrom<Setting["applied"][number][]>(
    [[0, 0]],
    [
      [0, 0],
      [0, 1],
    ],
    [
      [0, 0],
      [1, 0],
    ],
    [
      [0, 0],
      [0, 1],
      [1, 2],
    ],
    [],
  ),
});
