import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cents, formatCents } from "../src/index.js";

describe("cents", () => {
  it("accepts whole amounts from 0", () => {
    expect(cents(0)).toBe(0);
    expect(cents(7498)).toBe(7498);
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "5", null])("refuses %s", (value) => {
    expect(() => cents(value as number)).toThrow(RangeError);
  });
});

describe("formatCents", () => {
  it.each([
    [0, "0.00"],
    [5, "0.05"],
    [4998, "49.98"],
    [100_000_000, "1000000.00"],
    [-5, "-0.05"],
  ])("writes %d as %s", (amount, written) => {
    expect(formatCents(amount)).toBe(written);
  });

  it("can be converted back", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), (amount) => {
        expect(Math.round(Number(formatCents(amount)) * 100)).toBe(amount);
      }),
    );
  });
});
