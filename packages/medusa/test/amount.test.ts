import { BigNumber } from "@medusajs/framework/utils";
import { expect, test } from "vitest";
import { fromCents, isCentAtMost, isSameAmount, toCents } from "../src/amount.js";

test.each([
  [19.99, 1999],
  [0.29, 29],
  [1.005, 101],
  [53.5262, 5353],
  [0, 0],
  ["74.98", 7498],
  [new BigNumber(24.98), 2498],
  [{ value: "49.995", precision: 20 }, 5000],
])("%j is %i cents", (amount, amountCents) => {
  expect(toCents(amount)).toBe(amountCents);
});

test("every amount in cents survives the round trip", () => {
  for (let amountCents = 0; amountCents <= 20_000; amountCents++) {
    expect(toCents(fromCents(amountCents))).toBe(amountCents);
  }
});

test("floating-point residue of a tax division does not decide how half a cent is rounded", () => {
  expect(toCents({ value: "22.454999999999999885", precision: 20 })).toBe(2246);
  expect(toCents(22.455000000000002)).toBe(2246);
  expect(toCents(22.4549)).toBe(2245);
});

test("amounts are the same if they differ by residue only", () => {
  expect(isSameAmount(22.455, "22.454999999999999885")).toBe(true);
  expect(isSameAmount(22.455, 22.45)).toBe(false);
});

test("a difference of a cent, in either direction, is a cent at most", () => {
  expect([0, 0.01, -0.01, 0.011, -0.02].map(isCentAtMost)).toEqual([true, true, true, false, false]);
});
