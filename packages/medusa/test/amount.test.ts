import { BigNumber } from "@medusajs/framework/utils";
import { expect, test } from "vitest";
import { fromCents, isWhole, lessCents, toCents } from "../src/amount.js";

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

test("every amount in cents survives the way there and back", () => {
  for (let amountCents = 0; amountCents <= 20_000; amountCents++) {
    expect(toCents(fromCents(amountCents))).toBe(amountCents);
  }
});

test("what is left keeps the fractions of a cent", () => {
  expect(lessCents(53.5262, 5000).numeric).toBe(3.5262);
  expect(lessCents(74.98, 5000).numeric).toBe(24.98);
});

test.each([
  [50, 50, true],
  [50, 49.995, false],
  [50, 50.004, false],
  [50, 49.99, false],
  [24.985, 24.98, true],
  [24.985, 24.99, true],
  [24.985, 24.985, true],
  [24.985, 24.984, false],
  [24.985, 24.97, false],
])("of %d, %d is the whole: %s", (amount, typed, whole) => {
  expect(isWhole(typed, amount)).toBe(whole);
});
