import { expect, it } from "vitest";
import { readSetup } from "../src/options.js";

const faultsOf = (options: object) => {
  try {
    readSetup(options);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};
const setup = {
  ...{ environment: "sandbox", baseUrl: "https://a.example", apiKey: "key", companyId: 1 },
  sealingKeys: [{ id: "2026", key: Buffer.alloc(32).toString("base64") }],
};
const notSet = "is not set. If it comes from an environment variable, set that variable.";

it("names all missing options at once, as if no environment variable were set", () => {
  const sealingKeys = [{ id: "2026", key: undefined }];
  const message = faultsOf({ environment: "sandbox", baseUrl: undefined, apiKey: undefined, sealingKeys });
  expect(message).toBe(
    `@giftcard-pay/medusa: wrong options. baseUrl: ${notSet} apiKey: ${notSet} companyId: ${notSet} ` +
      `sealingKeys.0.key: ${notSet}`,
  );
  expect(faultsOf({})).toContain(`environment: ${notSet}`);
});

it("rejects a sealing key that is too short", () => {
  expect(faultsOf({ ...setup, sealingKeys: [{ id: "a", key: "c2hvcnQ=" }] })).toContain(
    'Sealing key "a" is not 32 bytes',
  );
});

it("requires a lease longer than a call to the service, not equal", () => {
  const tooShort = "@giftcard-pay/medusa: wrong options. leaseMs: must be longer than timeoutMs.";
  expect(faultsOf({ ...setup, timeoutMs: 5000, leaseMs: 5000 })).toBe(tooShort);
  expect(faultsOf({ ...setup, timeoutMs: 120_000 })).toBe(tooShort);
  expect(faultsOf({ ...setup, leaseMs: 10_000 })).toBe(tooShort);
  expect(faultsOf({ ...setup, timeoutMs: 5000, leaseMs: 5001 })).toBe("");
});
