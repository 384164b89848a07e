import { expect, inject, test } from "vitest";
import { type CartPlan, makeCart } from "./carts/make-cart.js";
import { runCarts } from "./carts/run-carts.js";

/** The first seed of small carts that together cover every case. `npm run prove -- carts` takes its seed from the clock. */
const SEED = 859;
const CARTS = 6;
const MOST_UNITS = 3;

const buy = async (carts: number) => {
  const postgresUrl = inject("postgresUrl");
  const results = await runCarts({ seed: SEED, carts, mostUnits: MOST_UNITS, workers: 1, postgresUrl });
  expect(results.flatMap(({ plan, wrong }) => wrong.map((what) => `seed ${plan.seed}: ${what}`))).toEqual([]);
  expect(results).toHaveLength(carts);
};

const timeout = 600_000;

test(
  "random carts are paid in whole cents, and each unit is refunded at the price paid for it",
  {
    tags: "long",
    timeout,
  },
  () => buy(CARTS),
);

test("the carts cover VAT included and added, both countries, every kind of refund, and every kind of discount", () => {
  const plans = Array.from({ length: CARTS }, (_, index) => makeCart(SEED + index, MOST_UNITS));
  const all = (of: (plan: CartPlan) => readonly unknown[]) => new Set(plans.flatMap(of));
  expect(all(({ isInclusive }) => [isInclusive])).toEqual(new Set([true, false]));
  expect(all(({ country }) => [country])).toEqual(new Set(["nl", "de"]));
  expect(all(({ lines }) => lines.map(({ way }) => way))).toEqual(
    new Set(["return", "edit", "show", "show, then edit"]),
  );
  expect(all(({ end }) => [end])).toEqual(new Set(["whole order", "cancel"]));
  const given = all(({ codes }) => codes);
  for (const some of [
    ["TEN", "FIVE", "NETSEVEN", "NETFOUR"],
    ["ITEMS15", "EACH1"],
    ["FREESHIP", "POST2"],
  ])
    expect(some.some((code) => given.has(code))).toBe(true);
});
