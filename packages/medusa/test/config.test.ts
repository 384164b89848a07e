import { defineConfig, Modules } from "@medusajs/framework/utils";
import { describe, expect, test } from "vitest";
import { dependencies, peerDependencies } from "../package.json";
import { checkMedusa, type GiftcardOptions, OLDEST_MEDUSA, withGiftcard } from "../src/config.js";

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
  test("adds the plugin and the provider to the existing ones", () => {
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

  test("does not share an options object, since Medusa writes into it", () => {
    const added = withGiftcard(defineConfig({}), options);
    const plugin = added.plugins?.find((one) => typeof one !== "string" && one.resolve === "@giftcard-pay/medusa");
    expect(plugin).toMatchObject({ options });
    expect((plugin as { options: object }).options).not.toBe(options);
  });

  test("reports a disabled payment module", () => {
    const config = defineConfig({ modules: { [Modules.PAYMENT]: { disable: true } as never } });
    expect(() => withGiftcard(config, options)).toThrow(/payment module/);
  });
});

test("depends on no package of events", () => {
  expect(Object.keys(dependencies).filter((name) => name.includes("events"))).toEqual([]);
});

describe("the release of Medusa", () => {
  test.each(["2.13.0", "2.9.4", "2.15.3", "1.20.0"])("%s is too old: the error says what to do", (release) => {
    expect(() => checkMedusa(release)).toThrow(`Medusa ${OLDEST_MEDUSA} or newer; this store has ${release}.`);
  });

  test.each([OLDEST_MEDUSA, "2.15.10", "2.18.0", "2.21.2", "2.100.0", "2.22.0-rc-1"])("%s is accepted", (release) => {
    expect(() => checkMedusa(release)).not.toThrow();
  });

  test("matches the peer dependency range", () => {
    for (const name of ["admin-sdk", "framework", "icons", "js-sdk", "medusa"] as const)
      expect(peerDependencies[`@medusajs/${name}`]).toBe(`^${OLDEST_MEDUSA}`);
  });
});
