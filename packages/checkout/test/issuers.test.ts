import { createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readBlock } from "../../../test/support/page-blocks.js";
import { issuerConformance } from "../conformance/index.js";
import { createCheckout } from "../src/index.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";
import { createTestIssuer, TestBank, type TestFault } from "../testing/index.js";
import { newCart, type Shop, sealingKeys, startShop } from "./shop.js";

describe("an issuer has to pass the cases:", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop();
  });
  afterAll(() => shop.stop());

  describe("the service", () => {
    const cases = issuerConformance(() => ({
      client: shop.client,
      issueCard: (balanceCents) => shop.card(balanceCents),
      block: ({ cardNumber }) => shop.service.command("card", "block", cardNumber, "--reason", "a test"),
    }));
    for (const { name, run } of cases) it(name, run);
  });

  describe("the issuer for tests", () => {
    const issuer = createTestIssuer();
    const cases = issuerConformance(() => ({
      client: issuer.client,
      issueCard: async (balanceCents) => issuer.issueCard(balanceCents),
      block: async (card) => Object.assign(card, { isBlocked: true }),
    }));
    for (const { name, run } of cases) it(name, run);
  });
});

describe("the issuer for tests", () => {
  const newShop = async () => {
    const [issuer, bank] = [createTestIssuer(), new TestBank()];
    const store = await createSqliteStore({ file: ":memory:" });
    const checkout = createCheckout({
      ...{ client: issuer.client, store, sealingKeys, remainder: bank.method, onFailure: () => {} },
    });
    return { issuer, bank, checkout, store };
  };

  it("shows what the README says", async () => {
    const text = (await readBlock("packages/checkout/README.md", "order.test.js")).replaceAll(/^import .*$/gm, "");
    const names = [
      "assert",
      "createCheckout",
      "createSqliteStore",
      "createTestIssuer",
      "TestBank",
      "test",
      "sealingKeys",
    ];
    const tests: (() => Promise<void>)[] = [];
    const assert = { deepEqual: (left: unknown, right: unknown) => expect(left).toEqual(right) };
    const test = (_name: string, run: () => Promise<void>) => void tests.push(run);
    new Function(...names, text)(
      assert,
      createCheckout,
      createSqliteStore,
      createTestIssuer,
      TestBank,
      test,
      sealingKeys,
    );
    expect(tests).toHaveLength(1);
    for (const run of tests) await run();
  });

  it.each<[TestFault, string, number]>([
    ["lose-request", "outcome_unknown", 7500],
    ["lose-answer", "outcome_unknown", 7500],
    ["garble-answer", "outcome_unknown", 7500],
    ["busy", "service_unavailable", 7500],
  ])("fails on demand (%s), and the checkout gives everything back", async (fault, _code, balanceCents) => {
    const { issuer, bank, checkout, store } = await newShop();
    const card = issuer.issueCard(7500);
    const cart = newCart(7498);
    await checkout.apply(cart, { cardNumber: card.cardNumber, pin: card.pin });
    issuer.fail("devalue", fault);
    await expect(checkout.pay({ id: "order-1", cart })).rejects.toMatchObject({ name: "CheckoutError" });
    await checkout.recover();
    expect([card.balanceCents, bank.heldCents]).toEqual([balanceCents, 0]);
    expect(await checkout.pay({ id: "order-1", cart })).toMatchObject({ status: "paid" });
    expect([card.balanceCents, bank.heldCents]).toEqual([2500, 2498]);
    store.close();
  });

  it("doesn't answer until the client's timeout (hang), and refuses a revoked key", async () => {
    const issuer = createTestIssuer();
    const { cardNumber, pin } = issuer.issueCard(7500);
    const client = createClient({
      ...{ baseUrl: "https://issuer.example", apiKey: "any", companyId: 1, fetch: issuer.fetch },
      timeoutMs: 50,
    });
    issuer.fail("devalue", "hang");
    const call = client.devalue({ cardNumber, pin, amountCents: 100 as never, reference: "one" });
    await expect(call).rejects.toMatchObject({ code: "timeout" });
    issuer.fail("balance", "unauthorized");
    await expect(client.balance({ cardNumber, pin })).rejects.toMatchObject({ code: "unauthorized" });
    expect((await client.balance({ cardNumber, pin })).balanceCents).toBe(7400);
  });
});
