import { BigNumber } from "@medusajs/framework/utils";
import { expect, test } from "vitest";
import { fromCents, toCents } from "../src/amount.js";

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
