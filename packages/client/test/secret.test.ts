import { format, inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { Secret } from "../src/index.js";

describe("Secret", () => {
  const secret = new Secret("6064990000001234567");

  it("reveals its value", () => {
    expect(secret.reveal()).toBe("6064990000001234567");
  });

  it.each([
    ["a template", `${secret}`],
    ["JSON", JSON.stringify({ secret })],
    ["inspect", inspect({ secret }, { showHidden: true, depth: 9 })],
    ["a log line", format("%s %o %O %j", secret, secret, secret, secret)],
    ["a sum", ["card ", secret].join("")],
    ["its entries", JSON.stringify(Object.entries(secret))],
    ["an error", String(new Error("x", { cause: secret }).cause)],
  ])("shows nothing in %s", (_, shown) => {
    expect(shown).not.toMatch(/\d{4}/);
  });

  it("shows the last four characters of a long value, and none of a short one", () => {
    expect(secret.lastFour()).toBe("4567");
    expect(new Secret("12345678").lastFour()).not.toMatch(/\d/);
  });

  it("wraps a string once", () => {
    expect(Secret.of(secret)).toBe(secret);
    expect(Secret.of("x").reveal()).toBe("x");
  });
});
