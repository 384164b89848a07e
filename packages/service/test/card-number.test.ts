import fc from "fast-check";
import { expect, test } from "vitest";
import { checkDigit, makeCardNumber, makePin } from "../src/secrets/card-number.js";

const digits = fc.stringMatching(/^\d{18}$/);

test("the check digit is Luhn's", () => {
  expect(checkDigit("7992739871")).toBe("3");
  expect(checkDigit("0".repeat(18))).toBe("0");
});

test("the check digit detects any mistyped digit", () => {
  fc.assert(
    fc.property(digits, fc.nat(17), fc.integer({ min: 1, max: 9 }), (body, at, by) => {
      const mistyped = body.slice(0, at) + ((Number(body[at]) + by) % 10) + body.slice(at + 1);
      return checkDigit(mistyped) !== checkDigit(body);
    }),
  );
});

test("card numbers have 19 digits, the prefix and a check digit, and are unique", () => {
  const made = Array.from({ length: 500 }, () => makeCardNumber("12").reveal());
  expect(new Set(made).size).toBe(500);
  for (const number of made) {
    expect(number).toMatch(/^12\d{17}$/);
    expect(number.at(-1)).toBe(checkDigit(number.slice(0, -1)));
  }
});

test("PINs have six digits, sometimes with leading zeros", () => {
  const made = Array.from({ length: 500 }, () => makePin().reveal());
  for (const pin of made) expect(pin).toMatch(/^\d{6}$/);
  expect(made.some((pin) => pin.startsWith("0"))).toBe(true);
});
