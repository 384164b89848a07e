/** Acts of people and jobs in a history, and their moments. */
import fc from "fast-check";
import { type Act, bankMoods, type Visit } from "./plan.js";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Chooses the first most often. */
export const often = <const T>(...values: readonly T[]) =>
  fc.oneof(
    ...values.map((value, index) => ({ weight: index === 0 ? 2 * values.length : 1, arbitrary: fc.constant(value) })),
  );
export const oneOf = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
export const index = (most: number) => fc.nat({ max: most });
export const orderIndex = index(2);

/** Moments: while the first payment runs, after it, during its leases, after them, after a page has lapsed, next day. */
export const moment = fc
  .tuple(oneOf(0, 0, 0, 1, 1, 2, 3, 4, 5), index(180))
  .map(
    ([phase, jitter]) => ([0, 2 * SECOND, 70 * SECOND, 4 * MINUTE, 45 * MINUTE, 26 * HOUR][phase] as number) + jitter,
  );

/** A while: within the leases, or after them, or after a page has lapsed. */
export const while_ = oneOf(3 * MINUTE, 20, 40 * SECOND, 45 * MINUTE, 3 * HOUR);

const visit: fc.Arbitrary<Visit> = fc.record({
  outcome: oneOf("pays", "pays", "pays", "declines", "leaves"),
  afterMs: oneOf(SECOND, 30 * SECOND, 5 * MINUTE, 29 * MINUTE, 31 * MINUTE, 2 * HOUR),
  noticesAfterMs: fc.array(oneOf(0, 1, 10, 40, 3 * MINUTE, 50 * MINUTE), { maxLength: 2 }),
});

export const payFields = {
  do: fc.constant("pay" as const),
  order: orderIndex,
  visit,
  cart: oneOf("seen again", "seen again", "as shown", "changed unseen", "unknown", "another"),
};
export const pay = fc.record({ ...payFields, mood: oneOf(...bankMoods.slice(0, 2), ...bankMoods) });
export const recover = fc.record({
  do: fc.constant("recover" as const),
  deadlineMs: often(null, 100, 5000),
  limit: often(null, 1),
});
export const cancel = fc.record({
  do: fc.constant("cancel" as const),
  order: orderIndex,
  attempt: often("any", "first"),
});
export const ask = fc.record({
  do: oneOf("confirm", "abandon", "confirm", "assert paid", "paid by"),
  order: orderIndex,
});
export const notify = fc.record({ do: fc.constant("notify" as const), order: orderIndex, attempt: index(1) });
export const settling = fc.record({ do: oneOf("settle remainder", "retry purchase"), order: orderIndex });
export const refund: fc.Arbitrary<Act> = fc.oneof(
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

export const act: fc.Arbitrary<Act> = fc.oneof(
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
