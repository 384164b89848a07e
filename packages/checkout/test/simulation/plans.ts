import fc from "fast-check";
import {
  act,
  ask,
  cancel,
  index,
  MINUTE,
  moment,
  notify,
  often,
  oneOf,
  orderIndex,
  pay,
  payFields,
  recover,
  refund,
  SECOND,
  settling,
  while_,
} from "./acts.js";
import {
  type Act,
  type BankMood,
  bankMoods,
  type Fault,
  type FaultKind,
  faultKinds,
  type Plan,
  type PlannedOrder,
} from "./plan.js";

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

/** The store can't be written for a while, in the process that pays. */
const outage: fc.Arbitrary<Fault> = fc.record({
  ...{ process: fc.constant(0), place: fc.constant("store"), nth: index(24), times: oneOf(5, 40) },
  ...{ kind: oneOf("refused", "lost"), forMs: fc.constant(0) },
});

/** Anybody, at any time, with any fault. */
const anything: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  orders: ordersOf(paymentOf([...bankMoods.slice(0, 2), ...bankMoods], index(2)), 2),
  deeds: deedsOf(act, moment, 0, 6),
  faults: fc.oneof(
    { weight: 4, arbitrary: fc.array(faultOf(faultKinds, index(2), while_), { maxLength: 3, size: "max" }) },
    { weight: 1, arbitrary: outage.map((fault) => [fault]) },
  ),
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
      fc.oneof(
        slowFault(0, STALL_MS),
        // The process has charged the cards, and asks the bank only now.
        slowFault(0, STALL_MS).map((fault) => ({ ...fault, place: "bank" as const, nth: 0 })),
      ),
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
    fc.oneof(
      {
        weight: 2,
        arbitrary: faultOf(
          ["lost", "dies-after", "stalls-after", "refused", "never", "twice", "late"],
          index(2),
          while_,
        ),
      },
      // A process has planned a refund, and writes it once another one is made.
      {
        weight: 1,
        arbitrary: faultOf(["stalls"], oneOf(1, 2), oneOf(20 * SECOND, 3 * MINUTE)).map((fault) => ({
          ...fault,
          place: "store" as const,
          times: 1,
        })),
      },
    ),
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

/** Staff cancel an order, which takes long, and settle its remainder elsewhere meanwhile. */
const settled: fc.Arbitrary<Plan> = fc.record({
  ...traits,
  ...{ bankKeeps: fc.constant(false), slowMs: fc.constant(0), hasKeys: fc.constant(true) },
  orders: ordersOf(paymentOf(["approve", "keep-then-approve"], fc.constant(0)), 1),
  deeds: fc
    .tuple(
      deed(fc.constant(0), during(70 * SECOND, 50), cancel),
      deed(fc.constant(1), during(STALL_MS - 30 * SECOND, 100), settling),
      deedsOf(fc.oneof(settling, recover, notify), during(STALL_MS, 400), 0, 2),
    )
    .map(([first, second, more]) => [first, second, ...more]),
  faults: slowFault(0, STALL_MS).map((fault) => [fault]),
});

/** Plans of histories. They shrink to few deeds and faults, early, in one process, each call of which takes a millisecond. */
export const plans: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 5, arbitrary: anything },
  { weight: 4, arbitrary: overtaken },
  { weight: 3, arbitrary: replaced },
  { weight: 1, arbitrary: lapsed },
  { weight: 3, arbitrary: returned },
  { weight: 1, arbitrary: disputed },
  { weight: 1, arbitrary: settled },
);
