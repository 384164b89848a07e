import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { GiftcardPlugin, type GiftcardPluginOptions } from "../dist/index.js";

const SECRET = "an api key that no error may show";
const options: GiftcardPluginOptions = {
  environment: "sandbox",
  baseUrl: "https://cards.example",
  apiKey: SECRET,
  companyId: 7,
  sealingKeys: [{ id: "a", key: randomBytes(32).toString("base64") }],
};

test("fills in the defaults", () => {
  GiftcardPlugin.init({ ...options, companyId: "7" });
  expect(GiftcardPlugin.settings).toMatchObject({
    ...{ companyId: 7, paymentMethodCode: "giftcard", maxCards: 5, leaseMs: 120_000 },
  });
});

const wrong: [string, object][] = [
  ["environment", { environment: "test" }],
  ["baseUrl", { baseUrl: "cards.example" }],
  ["apiKey", { apiKey: "" }],
  ["companyId", { companyId: 0 }],
  ["sealingKeys", { sealingKeys: [] }],
  ["sealingKeys", { sealingKeys: [{ id: "a", key: "short" }] }],
  ["maxCards", { maxCards: 21 }],
  ["charges", { charges: "by-order" }],
  ["leaseMs", { leaseMs: 10_000 }],
  ["enviroment", { enviroment: "live" }],
];

test.each(wrong)("names the invalid option %s, and shows no secret", (name, change) => {
  const init = () => GiftcardPlugin.init({ ...options, ...change } as GiftcardPluginOptions);
  expect(init).toThrow(TypeError);
  expect(init).toThrow(`GiftcardPlugin.init: ${name}:`);
  expect(init).not.toThrow(SECRET);
});
