import fc from "fast-check";
import {
  type Act,
  type BankMood,
  bankMoods,
  type FaultKind,
  faultKinds,
  type Plan,
  type PlannedOrder,
  type Visit,
} from "./plan.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Chooses the first most often. */
const often = <const T>(...values: readonly T[]) =>
  fc.oneof(
    ...values.map((value, index) => ({ weight: index === 0 ? 2 * values.length : 1, arbitrary: fc.constant(value) })),
  );
const oneOf = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
const index = (most: number) => fc.nat({ max: most });
const orderIndex = index(2);

/** Moments: while the first payment runs, after it, during its leases, after them, after a page has lapsed, next day. */
const moment = fc
  .tuple(oneOf(0, 0, 0, 1, 1, 2, 3, 4, 5), index(180))
  .map(
    ([phase, jitter]) => ([0, 2 * SECOND, 70 * SECOND, 4 * MINUTE, 45 * MINUTE, 26 * HOUR][phase] as number) + jitter,
  );

/** A while: within the leases, or after them, or after a page has lapsed. */
const while_ = oneOf(3 * MINUTE, 20, 40 * SECOND, 45 * MINUTE, 3 * HOUR);

const visit: fc.Arbitrary<Visit> = fc.record({
  outcome: oneOf("pays", "pays", "pays", "declines", "leaves"),
  afterMs: oneOf(SECOND, 30 * SECOND, 5 * MINUTE, 29 * MINUTE, 31 * MINUTE, 2 * HOUR),
  noticesAfterMs: fc.array(oneOf(0, 1, 10, 40, 3 * MINUTE, 50 * MINUTE), { maxLength: 2 }),
});

const payFields = {
  do: fc.constant("pay" as const),
  order: orderIndex,
  visit,
  cart: oneOf("seen again", "seen again", "as shown", "changed unseen", "unknown", "another"),
};
const pay = fc.record({ ...payFields, mood: oneOf(...bankMoods.slice(0, 2), ...bankMoods) });
const recover = fc.record({
  do: fc.constant("recover" as const),
  deadlineMs: often(null, 100, 5000),
  limit: often(null, 1),
});
const cancel = fc.record({ do: fc.constant("cancel" as const), order: orderIndex, attempt: often("any", "first") });
const ask = fc.record({ do: oneOf("confirm", "abandon", "confirm", "assert paid", "paid by"), order: orderIndex });
const notify = fc.record({ do: fc.constant("notify" as const), order: orderIndex, attempt: index(1) });
const settling = fc.record({ do: oneOf("settle remainder", "retry purchase"), order: orderIndex });
const refund: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("refund lines" as const),
      ...{ order: orderIndex, id: index(3), line: index(1), units: oneOf(1, 1, 2, 0.5) },
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("refund amount" as const),
      ...{ order: orderIndex, id: index(3), cents: oneOf(500, 1, 2498, 2500, 5000, 7498, 333), rule: index(3) },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("refund cards" as const), order: orderIndex, which: oneOf(null, 0, 1) }),
  },
);

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: pay },
  { weight: 5, arbitrary: ask },
  { weight: 4, arbitrary: cancel },
  { weight: 7, arbitrary: refund },
  { weight: 6, arbitrary: recover },
  {
    weight: 3,
    arbitrary: fc.record({ do: oneOf("apply", "spend elsewhere", "block"), order: orderIndex, card: index(2) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), order: orderIndex }) },
  { weight: 2, arbitrary: settling },
  { weight: 2, arbitrary: fc.record({ do: oneOf("retry charge", "mark taken", "mark not taken") }) },
  { weight: 2, arbitrary: notify },
);

const cardBearing = { goods: index(4), sharesCart: often(false, true) };
const faultOf = (kinds: readonly FaultKind[], processes: fc.Arbitrary<number>, forMs: fc.Arbitrary<number>) =>
  fc.record({
    process: processes,
    place: oneOf("store", "store", "issuer", "bank"),
    nth: fc.oneof({ weight: 2, arbitrary: index(4) }, { weight: 1, arbitrary: index(40) }),
    times: oneOf(1, 1, 1, 2, 5, 40),
    kind: oneOf(...kinds),
    forMs,
  });
const deedsOf = (acts: fc.Arbitrary<Act>, atMs: fc.Arbitrary<number>, minLength: number, maxLength: number) =>
  fc.array(fc.record({ atMs, process: index(2), act: acts }), { minLength, maxLength, size: "max" });

const traits = {
  pace: fc.nat({ max: 0x7fffffff }),
  byLine: often(true, false),
  maxChargesPerCard: often(50, 2),
  leastRemainderCents: often(0, 50),
  hasKeys: often(true, true, true, false),
  bankRemembers: fc.boolean(),
  bankKeeps: often(false, false, true),
  pagesStay: fc.boolean(),
  hasLastNotices: fc.boolean(),
  leaseMs: often(2 * MINUTE, 20 * SECOND),
  slowMs: often(0, 0, 8 * SECOND),
  cardsCents: fc.array(oneOf(5000, 2500, 7500, 1249), { minLength: 1, maxLength: 3 }),
};
const ordersOf = (payments: fc.Arbitrary<PlannedOrder["payment"]>, maxLength: number) =>
  fc.array(fc.record({ ...cardBearing, cards: fc.array(index(2), { maxLength: 2, size: "max" }), payment: payments }), {
    minLength: 1,
    maxLength,
  });
const paymentOf = (moods: readonly BankMood[], processes: fc.Arbitrary<number>) =>
  fc.record({
    atMs: index(20),
    process: processes,
    act: fc.record({ ...payFields, mood: oneOf(...moods) }),
  });

/** Anybody, at any time, with any fault. */
const anything: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  orders: ordersOf(paymentOf([...bankMoods.slice(0, 2), ...bankMoods], index(2)), 2),
  deeds: deedsOf(act, moment, 0, 6),
  faults: fc.array(faultOf(faultKinds, index(2), while_), { maxLength: 3, size: "max" }),
});

/** A process that pays is slow, and others act meanwhile, and at the moment when it goes on. */
const STALL_MS = 4 * MINUTE;
const meanwhile = fc
  .tuple(oneOf(0, 3 * MINUTE, STALL_MS, STALL_MS, 5 * MINUTE), index(400))
  .map(([start, jitter]) => start + jitter);
const overtaken: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  bankKeeps: fc.constant(false),
  slowMs: fc.constant(0),
  orders: ordersOf(paymentOf(bankMoods, fc.constant(0)), 1),
  deeds: deedsOf(
    fc.oneof(
      { weight: 3, arbitrary: pay },
      { weight: 4, arbitrary: recover },
      { weight: 2, arbitrary: cancel },
      ask,
      notify,
    ),
    meanwhile,
    ...([1, 5] as const),
  ),
  faults: fc
    .tuple(
      faultOf(["stalls", "stalls-after", "late", "answered-late", "dies-after"], fc.constant(0), fc.constant(STALL_MS)),
      fc.array(faultOf(faultKinds, index(2), while_), { maxLength: 1, size: "max" }),
    )
    .map(([first, more]) => [first, ...more]),
});

const during = (start: number, most: number) => index(most).map((jitter) => start + jitter);
const deed = <A extends Act>(process: fc.Arbitrary<number>, atMs: fc.Arbitrary<number>, act: fc.Arbitrary<A>) =>
  fc.record({ process, atMs, act });
const slowFault = (process: number, ...forMs: readonly number[]) =>
  faultOf(["stalls", "stalls-after", "late", "answered-late"], fc.constant(process), oneOf(...forMs));

/** A process that pays is slow, and its order is paid in another attempt meanwhile. Soon after it goes on, it may die. */
const replaced: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  bankKeeps: often(false, false, true),
  slowMs: fc.constant(0),
  hasLastNotices: fc.constant(false),
  orders: ordersOf(
    paymentOf(["approve", "page", "approve-then-fail", "keep-then-approve", "decline"], fc.constant(0)),
    1,
  ),
  deeds: fc
    .tuple(
      deed(fc.constant(1), during(3 * MINUTE, 50), fc.oneof(recover, cancel, pay)),
      deed(oneOf(1, 2), during(3 * MINUTE + 2 * SECOND, 200), pay),
      deedsOf(
        fc.oneof(
          fc.record({ do: oneOf("apply", "remove"), order: orderIndex, card: index(2) }),
          ...[ask, notify, cancel, settling, recover],
        ),
        oneOf(2 * SECOND, 3 * MINUTE + SECOND, STALL_MS - 30 * SECOND, 5 * MINUTE).chain((start) => during(start, 100)),
        ...([0, 3] as const),
      ),
    )
    .map(([first, second, more]) => [first, second, ...more]),
  faults: fc
    .tuple(
      slowFault(0, STALL_MS),
      oneOf("nothing", "dies", "other"),
      index(5),
      fc.oneof(
        slowFault(1, 40 * SECOND, 2 * MINUTE),
        slowFault(2, STALL_MS),
        faultOf(["dies-after"], index(2), fc.constant(0)),
      ),
    )
    .map(([first, then, calls, other]) => {
      if (then === "nothing") return [first];
      const death = { ...first, nth: first.nth + 1 + calls, times: 1, kind: "dies-after" as const };
      return [first, then === "dies" ? death : other];
    }),
});

/** A page is paid after its payment was given up; the shop learns that slowly, and the order is paid again meanwhile. */
const lapsed: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  ...{
    bankKeeps: fc.constant(false),
    pagesStay: fc.constant(true),
    slowMs: fc.constant(0),
    leaseMs: fc.constant(2 * MINUTE),
  },
  hasLastNotices: fc.constant(false),
  orders: ordersOf(
    paymentOf(["page", "keep-then-page"], fc.constant(0)).map((payment) => ({
      ...payment,
      act: { ...payment.act, visit: { outcome: "pays", afterMs: 5 * MINUTE, noticesAfterMs: [10] } },
    })),
    1,
  ),
  deeds: fc
    .tuple(
      deed(oneOf(0, 1), during(3 * MINUTE, 50), fc.oneof(cancel, pay)),
      deed(oneOf(1, 2), during(5 * MINUTE + 2 * SECOND, 200), pay),
      deedsOf(fc.oneof(ask, notify, recover), during(5 * MINUTE + SECOND, 500), 0, 2),
    )
    .map(([first, second, more]) => [first, second, ...more]),
  faults: fc.array(
    faultOf(["answered-late", "stalls-after", "late"], index(2), fc.constant(40 * SECOND)).map((fault) => ({
      ...fault,
      place: "bank" as const,
    })),
    { minLength: 1, maxLength: 2 },
  ),
});

/** Refunds of a paid order at the same time, some of which fail, and are repeated. */
const returned: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  hasKeys: fc.constant(true),
  slowMs: fc.constant(0),
  bankKeeps: often(false, false, false, true),
  orders: ordersOf(paymentOf(["approve", "keep-then-approve"], fc.constant(0)), 1),
  deeds: deedsOf(
    fc.oneof({ weight: 6, arbitrary: refund }, { weight: 2, arbitrary: recover }, ask, cancel, settling),
    fc
      .tuple(oneOf(2 * SECOND, 2 * SECOND, 70 * SECOND, 5 * MINUTE), index(120))
      .map(([start, jitter]) => start + jitter),
    ...([1, 6] as const),
  ),
  faults: fc.array(
    faultOf(["lost", "dies-after", "stalls-after", "refused", "never", "twice", "late"], index(2), while_),
    { maxLength: 2, size: "max" },
  ),
});

/** A bank that keeps its money, people who settle it elsewhere, and shoppers who pay again. */
const disputed: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  bankKeeps: fc.constant(true),
  slowMs: fc.constant(0),
  orders: ordersOf(
    paymentOf(["approve-then-fail", "wrong-currency", "nonsense", "approve", "page"], fc.constant(0)),
    1,
  ),
  deeds: deedsOf(
    fc.oneof({ weight: 4, arbitrary: settling }, { weight: 2, arbitrary: pay }, notify, recover, cancel, refund),
    fc
      .tuple(oneOf(2 * SECOND, 70 * SECOND, 5 * MINUTE, 6 * MINUTE, 45 * MINUTE), index(120))
      .map(([start, jitter]) => start + jitter),
    ...([2, 6] as const),
  ),
  faults: fc.array(faultOf(faultKinds, index(2), while_), { maxLength: 1 }),
});

/** Plans of histories. They shrink to few deeds and faults, early, in one process, each call of which takes a millisecond. */
export const plans: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 5, arbitrary: anything },
  { weight: 4, arbitrary: overtaken },
  { weight: 3, arbitrary: replaced },
  { weight: 1, arbitrary: lapsed },
  { weight: 3, arbitrary: returned },
  { weight: 1, arbitrary: disputed },
);
