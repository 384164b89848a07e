import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { cents, createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runNode } from "../../../scripts/lib/process.mjs";
import { readBlock } from "../../../test/support/page-blocks.js";
import { issuerConformance } from "../conformance/index.js";
import { type CheckoutOptions, createCheckout } from "../src/index.js";
import type { RemainderMethod } from "../src/remainder.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";
import { createTestIssuer, TestBank, type TestFault } from "../testing/index.js";
import { DollarIssuer } from "./dollar-issuer.js";
import { newCart, type Shop, sealingKeys, startShop } from "./shop.js";

describe("an issuer has to pass the cases:", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop();
  });
  afterAll(() => shop.stop());

  describe("the service", () => {
    const cases = issuerConformance(() => ({
      issuer: shop.client,
      issueCard: (balanceCents) => shop.card(balanceCents),
      block: ({ cardNumber }) => shop.service.command("card", "block", cardNumber, "--reason", "a test"),
    }));
    for (const { name, run } of cases) it(name, run);
  });

  describe("the issuer for tests", () => {
    const issuer = createTestIssuer();
    const cases = issuerConformance(() => ({
      issuer: issuer.client,
      issueCard: async (balanceCents) => issuer.issueCard(balanceCents),
      block: async (card) => Object.assign(card, { isBlocked: true }),
    }));
    for (const { name, run } of cases) it(name, run);
  });
});

it("a split payment needs the 15 lines of the quickstart, and no service", async () => {
  const quickstart = await readBlock("packages/checkout/README.md", "quickstart.mjs");
  expect(quickstart.split("\n").filter((line) => line !== "").length).toBeLessThanOrEqual(15);
  const cache = path.resolve(import.meta.dirname, "../.cache");
  await mkdir(cache, { recursive: true });
  const cwd = await mkdtemp(path.join(cache, "quickstart-"));
  await writeFile(path.join(cwd, "quickstart.mjs"), quickstart);
  const printed = await runNode({ name: "the quickstart", args: ["quickstart.mjs"], cwd });
  expect(printed).toMatch(/status: 'paid',[\s\S]*amountCents: 5000[\s\S]*remainderCents: 2498/);
  await rm(cwd, { recursive: true });
});

describe("the issuer in dollars", () => {
  const issuer = new DollarIssuer();
  const cases = issuerConformance(() => ({
    issuer,
    issueCard: async (balanceCents) => issuer.issueCard(balanceCents),
    block: async ({ cardNumber }) => issuer.block(cardNumber),
  }));
  for (const { name, run } of cases) it(name, run);
});

describe("the issuer for tests", () => {
  const newShop = async () => {
    const [issuer, bank] = [createTestIssuer(), new TestBank()];
    const store = await createSqliteStore({ file: ":memory:" });
    const checkout = createCheckout({
      ...{ issuer: issuer.client, store, sealingKeys, remainder: bank.method, onFailure: () => {} },
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
    const { plan } = await checkout.apply(cart, { cardNumber: card.cardNumber, pin: card.pin });
    issuer.fail("devalue", fault);
    await expect(checkout.pay({ id: "order-1", cart, plan })).rejects.toMatchObject({ name: "CheckoutError" });
    await checkout.recover();
    expect([card.balanceCents, bank.heldCents]).toEqual([balanceCents, 0]);
    expect(await checkout.pay({ id: "order-1", cart, plan })).toMatchObject({ status: "paid" });
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

describe("an issuer with another currency and another maximum", () => {
  const open = async (remainder: RemainderMethod = new TestBank().method, options: Partial<CheckoutOptions> = {}) => {
    const issuer = new DollarIssuer();
    const store = await createSqliteStore({ file: ":memory:" });
    const checkout = createCheckout({ issuer, store, sealingKeys, remainder, onFailure: () => {}, ...options });
    return { issuer, store, checkout };
  };
  const dollarCart = (totalCents: number) => ({ ...newCart(totalCents), currency: "usd" });
  const balanceOf = async (issuer: DollarIssuer, card: { cardNumber: string; pin: string }) =>
    (await issuer.balance(card)).balanceCents;

  it("charges up to its own maximum, and tells page and remainder method its currency", async () => {
    const bank = new TestBank();
    const asked: unknown[] = [];
    const { issuer, store, checkout } = await open({
      ...bank.method,
      authorize: async (request) => {
        asked.push([request.remainderCents, request.currency]);
        return { ...(await bank.authorize(request)), amountCents: request.remainderCents, currency: "usd" };
      },
    });
    const card = issuer.issueCard(15_000);
    const cart = dollarCart(12_999);
    expect(await checkout.quote(cart, card)).toMatchObject({ usableCents: 10_000, limitedBy: "limit" });
    const summary = await checkout.apply(cart, card);
    expect(summary).toMatchObject({ currency: "USD", maxPerCardCents: 10_000, remainderCents: 2999 });
    const lines = [{ id: "seat", quantity: 3, totalCents: cents(12_999) }];
    const { plan } = summary;
    expect(await checkout.pay({ id: "order-1", cart, plan, lines })).toMatchObject({
      status: "paid",
      remainderCents: 2999,
    });
    expect(asked).toEqual([[2999, "USD"]]);
    expect([await balanceOf(issuer, card), bank.heldCents]).toEqual([5000, 2999]);
    const oneSeat = { id: "return-1", lines: { seat: 1 } };
    expect((await checkout.refund("order-1", oneSeat)).refund).toMatchObject({ amountCents: 4333, isDone: true });
    expect([await balanceOf(issuer, card), bank.heldCents]).toEqual([6334, 0]);
    await checkout.cancel("order-1");
    expect([await balanceOf(issuer, card), bank.heldCents]).toEqual([15_000, 0]);
    expect((await checkout.read("order-1"))?.currency).toBe("USD");
    store.close();
  });

  it("refuses a cart in euro, and a remainder that was paid in euro", async () => {
    const bank = new TestBank();
    const { issuer, store, checkout } = await open(
      bank.with(async (request) => ({
        ...(await bank.authorize(request)),
        amountCents: request.remainderCents,
        currency: "EUR",
      })),
    );
    const card = issuer.issueCard(15_000);
    await expect(checkout.quote(newCart(12_999), card)).rejects.toMatchObject({ code: "currency_not_supported" });
    const cart = dollarCart(12_999);
    const { plan } = await checkout.apply(cart, card);
    await expect(checkout.pay({ id: "order-1", cart, plan })).rejects.toMatchObject({
      code: "authorize:wrong_currency",
    });
    expect([await balanceOf(issuer, card), bank.heldCents]).toEqual([15_000, 0]);
    await expect(checkout.pay({ id: "order-1", cart: newCart(12_999) })).rejects.toMatchObject({
      code: "currency_not_supported",
    });
    store.close();
  });

  it("does not end an order of another currency with the same id and total", async () => {
    const { issuer, store, checkout } = await open();
    const card = issuer.issueCard(15_000);
    const cart = dollarCart(4000);
    const { plan } = await checkout.apply(cart, card);
    await checkout.pay({ id: "order-1", cart, plan });
    await expect(checkout.pay({ id: "order-1", cart: { ...cart, currency: "eur" } })).rejects.toMatchObject({
      code: "amount_changed",
    });
    store.close();
  });
});
