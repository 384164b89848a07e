import { defineConfig, Modules } from "@medusajs/framework/utils";
import { describe, expect, test } from "vitest";
import { type GiftcardOptions, withGiftcard } from "../src/config.js";

const options: GiftcardOptions = {
  environment: "sandbox",
  baseUrl: "http://127.0.0.1:1",
  apiKey: "key",
  companyId: 1,
  sealingKeys: [{ id: "a", key: Buffer.alloc(32).toString("base64") }],
};

// biome-ignore lint/suspicious/noExplicitAny: a configuration as Medusa reads it
const paymentOf = (config: any) => config.modules[Modules.PAYMENT];

describe("withGiftcard", () => {
  test("adds the plugin and the provider beside those that are there", () => {
    const bank = { resolve: "./src/bank", id: "bank" };
    const config = defineConfig({
      plugins: ["a-plugin"],
      modules: [{ resolve: "@medusajs/medusa/payment", options: { webhook_delay: 7, providers: [bank] } }],
    });
    const before = structuredClone(paymentOf(config));
    const added = withGiftcard(config, options);
    expect(paymentOf(added)).toMatchObject({
      dependencies: ["giftcard"],
      options: { webhook_delay: 7, providers: [bank, { id: "giftcard" }] },
    });
    expect(added.plugins).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ resolve: "a-plugin" }),
        { resolve: "@giftcard-pay/medusa", options },
      ]),
    );
    expect(paymentOf(config)).toEqual(before);
  });

  test("shares no options object, since Medusa writes into it", () => {
    const added = withGiftcard(defineConfig({}), options);
    const plugin = added.plugins?.find(
      (one) => typeof one !== "string" && one.resolve === "@giftcard-pay/medusa",
    );
    expect(plugin).toMatchObject({ options });
    expect((plugin as { options: object }).options).not.toBe(options);
  });

  test("says so when the payment module is switched off", () => {
    const config = defineConfig({ modules: { [Modules.PAYMENT]: { disable: true } as never } });
    expect(() => withGiftcard(config, options)).toThrow(/payment module/);
  });
});
