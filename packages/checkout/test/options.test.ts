import { type Cents, cents, createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Checkout,
  type CheckoutOptions,
  createCheckout,
  createHandler,
  createPostgresStore,
} from "../src/index.js";
import { mollie } from "../src/methods/mollie.js";
import { stripe, stripeCheckout } from "../src/methods/stripe.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";
import { sealingKeys } from "./shop.js";
import { stores, type TestStore } from "./stores.js";

let store: TestStore;
let good: CheckoutOptions;
const baseUrl = "http://127.0.0.1:9";
const client = createClient({ baseUrl, apiKey: "not-a-real-key", companyId: 1 });
beforeAll(async () => {
  store = (await stores.SQLite?.()) as TestStore;
  good = { issuer: client, store, sealingKeys, environment: "sandbox" };
});
afterAll(() => store.close());

const declined = async () => ({ status: "declined" }) as const;
const method = { authorize: declined, status: declined, cancel: async () => {} };

/** The options with invalid values. */
const refused: Record<string, unknown[]> = {
  issuer: [undefined, null, {}, { companyId: 1 }],
  "issuer.companyId": [createClient({ baseUrl, apiKey: "not-a-real-key" })],
  "issuer.currency": [
    { ...client, currency: "eur" },
    { ...client, currency: undefined },
  ],
  "issuer.maxDeductionCents": [
    { ...client, maxDeductionCents: 0 },
    { ...client, maxDeductionCents: 49.98 },
  ],
  store: [undefined, "shop.db"],
  "store.journal": [{}, { purchases: {} }],
  sealingKeys: [undefined, [], "", "a-very-secret-key", [{ id: "1" }], [null]],
  environment: ["production", "", undefined],
  remainder: [null, {}, { status: method.status }, { ...method, cancel: "no" }],
  "remainder.refund": [
    { ...method, refund: "yes" },
    { ...method, refund: null },
  ],
  charges: ["by-unit", true, null],
  maxChargesPerCard: [0, 51, 1.5, "10"],
  pendingRemainderMs: ["30m", 0, -1, 1000.5, Number.NaN, Number.POSITIVE_INFINITY, null],
  leaseMs: [5, 999, "120000", null],
  tenderLifeMs: ["2h", 0],
  quoteLifeMs: [0, true],
  maxCards: [0, 1.5, "5", 101],
  guessLimits: [600, "many"],
  "guessLimits.perShop": [{ perShop: 0 }, { perShop: "600" }],
  "guessLimits.windowMs": [{ windowMs: 5 }],
  onChange: ["log"],
  onTender: [{}],
  onPurchase: [1],
  onFailure: [null],
};

describe("createCheckout", () => {
  for (const [name, values] of Object.entries(refused)) {
    it(`refuses an invalid ${name} by its name`, () => {
      const [option = ""] = name.split(".");
      for (const value of values) {
        let error: unknown;
        try {
          createCheckout({ ...good, [option]: value } as CheckoutOptions);
        } catch (thrown) {
          error = thrown;
        }
        expect([value, error]).toEqual([value, expect.any(TypeError)]);
        expect(String(error)).toContain(`${name} has to be`);
        expect(String(error)).not.toContain("a-very-secret-key");
      }
    });
  }

  it("refuses a misspelled name, which would leave the option at its default", () => {
    for (const options of [{ enviroment: "sandbox" }, { maxCard: 3 }])
      expect(() => createCheckout({ ...good, ...options } as never)).toThrow(
        new TypeError(`createCheckout: unknown option ${Object.keys(options)[0]}.`),
      );
    const guessLimits = { perCarts: 3 } as never;
    expect(() => createCheckout({ ...good, guessLimits })).toThrow(/unknown option guessLimits\.perCarts/);
  });

  it.each([
    ["createHandler", () => createHandler(createCheckout(good), { cartOf: async () => null, adressOf: null } as never)],
    ["createPostgresStore", () => createPostgresStore({ pool: { query: declined }, shema: "shop" } as never)],
    ["createSqliteStore", () => createSqliteStore({ file: ":memory:", mode: 0o600 } as never)],
    ["stripe", () => stripe({ webhookSecret: "whsec_1", captureMode: "manual" } as never)],
    ["stripeCheckout", () => stripeCheckout({ webhookSecret: "whsec_1", captureMode: "manual" } as never)],
    ["mollie", () => mollie({ captureMode: "manual" } as never)],
  ])("%s refuses one too", async (name, call) => {
    await expect((async () => call())()).rejects.toThrow(new RegExp(`^${name}: unknown option \\w+\\.$`));
  });

  it("accepts valid options, and uses defaults for the others", () => {
    const all = {
      pendingRemainderMs: 60_000,
      leaseMs: 1000,
      tenderLifeMs: 60_000,
      quoteLifeMs: 60_000,
      maxCards: 1,
    };
    const parts = { charges: "by-line", maxChargesPerCard: 50 } as const;
    const remainder = { ...method, refund: async () => {} };
    const rest = { guessLimits: { perCart: 3 }, onPurchase: () => {}, remainder, ...parts };
    expect(createCheckout({ ...good, ...all, ...rest }).environment).toBe("sandbox");
    expect(createCheckout({ ...good, leaseMs: undefined } as never).environment).toBe("sandbox");
  });

  it("needs an environment, its own or the issuer's, so that it isn't live by accident", () => {
    const { environment: _, ...without } = good;
    for (const options of [without, { ...without, environment: undefined }])
      expect(() => createCheckout(options as never)).toThrow(/environment has to be "sandbox" or "live", here or in/);
    const sandbox = createClient({ baseUrl, apiKey: "not-a-real-key", companyId: 1, environment: "sandbox" });
    expect(createCheckout({ ...without, issuer: sandbox }).environment).toBe("sandbox");
    const unset = { ...without, issuer: sandbox, environment: process.env.NO_SUCH_SETTING } as never;
    expect(createCheckout(unset).environment).toBe("sandbox");
    expect(() => createCheckout({ ...good, issuer: sandbox, environment: "live" })).toThrow(
      /environment has to be the same as the issuer's/,
    );
  });
});

describe("an invalid cart", () => {
  const cart = { id: "cart_1", totalCents: cents(7498), currency: "EUR" };
  const wrong: [string, unknown][] = [
    ["cart.totalCents", { ...cart, totalCents: 10.5 as Cents }],
    ["cart.totalCents", { ...cart, totalCents: -1 as Cents }],
    ["cart.totalCents", { ...cart, totalCents: "7498" }],
    ...["", "a\0b", "a lone \ud800"].map((id): [string, unknown] => ["cart.id", { ...cart, id }]),
    ["cart.currency", { id: "cart_1", totalCents: 1 }],
    ["cart.id", null],
  ];
  it("is refused by every call, with its field", async () => {
    const checkout = createCheckout(good);
    const asked: ((cart: never) => Promise<unknown>)[] = [
      (c) => checkout.list(c),
      (c) => checkout.quote(c, { cardNumber: "1", pin: "1" }),
      (c) => checkout.apply(c, { quoteId: "1" }),
      (c) => checkout.remove(c, "1"),
      (c) => checkout.pay({ id: "order_1", cart: c }),
    ];
    for (const [name, value] of wrong) for (const ask of asked) await expect(ask(value as never)).rejects.toThrow(name);
    for (const id of ["", "a\0b", "a lone \ud800"])
      await expect((checkout as Checkout).pay({ id, cart })).rejects.toThrow("order.id");
  });
});
