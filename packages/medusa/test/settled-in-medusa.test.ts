import { beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { editItem, editTo, fulfil, itemsOf, receive, refundOf, requestSwap, takeBack } from "./support/order-admin.js";
import { type Bought, bankCents, buy, giveBack } from "./support/ordinary-shop.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

/* Staff and integrations settle differences in Medusa itself. The plugin neither takes that back nor pays it again. */

let shop: SharedShop;
beforeAll(async () => {
  shop = await sharedShop("by-line");
  for (const [handle, price] of Object.entries({ tick: 37.49, mug: 20 }))
    await shop.storefront.createProduct(handle, price);
});

const ok = (method: string, path: string, body?: unknown) => shop.storefront.ok(method, path, body);
const send = (method: string, path: string, body?: unknown) => shop.storefront.send(method, path, body);
const pending = async ({ orderId }: Bought) =>
  Math.round(figuresOf(await shop.storefront.order(orderId)).outstanding * 100);
const refund = ({ orderId }: Bought) => refundOf(shop.storefront, orderId);
const paymentsIn = async ({ orderId }: Bought) => paymentsOf(await shop.storefront.order(orderId));

const order = (goods: Record<string, number>, captured?: boolean) =>
  buy(shop, goods, { balancesCents: [5000], codes: [], ...(captured === undefined ? {} : { captured }) });

/** Adds a credit line; by default as Medusa's form "Refund" does for store credit. */
const settle = ({ orderId }: Bought, amount: number, reference = "refund", referenceId = orderId) =>
  ok("POST", `/admin/orders/${orderId}/credit-lines`, { amount, reference, reference_id: referenceId });

async function newShow(handle: string): Promise<string> {
  await shop.storefront.createProduct(handle, 37.49);
  return (await ok("GET", `/admin/products?handle=${handle}&fields=id`)).products[0].id;
}
const planOf = async (productId: string) => (await ok("POST", "/admin/giftcard-pay/refund-plan", { productId })).plan;

const press = ({ orderId }: Bought, body: unknown) =>
  send("POST", `/admin/giftcard-pay/orders/${orderId}/refund`, body);

/** The order's credit lines, without the cents that balance fractions. */
const creditLines = async ({ orderId }: Bought) =>
  (await ok("GET", `/admin/orders/${orderId}?fields=id,credit_lines.amount`)).order.credit_lines.map(
    ({ amount }: { amount: number }) => Math.round(amount * 100),
  );

test.each([11.1676, 11.0461, 11.7975])(
  "the fraction of a cent that Medusa waives for a refund of %d is nobody's",
  async (price) => {
    const handle = `fraction-${price}`.replace(".", "-");
    await shop.storefront.createProduct(handle, price);
    const bought = await buy(shop, { [handle]: 7 }, { balancesCents: [3699, 1423], codes: [] });
    await editTo(shop.storefront, bought.orderId, handle, 6);
    expect(await giveBack(shop.storefront, bought.orderId)).toBe(Math.round(price * 100));
    expect([await pending(bought), await refund(bought)]).toMatchObject([0, { owedCents: 0, settledCents: 0 }]);
  },
);

describe("store credit for what an order owed", () => {
  test("is not refunded on the order's page, in bulk, or after the next return", async () => {
    const productId = await newShow("settled-show");
    const bought = await order({ "settled-show": 3 });
    await editTo(shop.storefront, bought.orderId, "settled-show", 2);
    const { splits } = await refund(bought);
    await settle(bought, -37.49);
    expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: 0, settledCents: -3749, splits: [] });
    expect((await press(bought, splits[0])).status).toBe(400);
    expect((await refund(bought)).rest).toMatchObject({ amountCents: 7498, why: null });
    expect((await planOf(productId)).orders).toMatchObject([{ amountCents: 7498 }]);
    await editTo(shop.storefront, bought.orderId, "settled-show", 1);
    expect([await pending(bought), (await refund(bought)).owedCents]).toEqual([-3749, 3749]);
    expect(await giveBack(shop.storefront, bought.orderId)).toBe(3749);
    expect([await pending(bought), await creditLines(bought)]).toEqual([0, [-3749]]);
  });

  test("needs a note to be refunded again by Medusa's own button", { tags: "long" }, async () => {
    const bought = await order({ tick: 2 });
    await editTo(shop.storefront, bought.orderId, "tick", 1);
    await settle(bought, -37.49);
    const [bank] = (await paymentsIn(bought)).others;
    const path = `/admin/payments/${bank.id}/refund`;
    expect((await send("POST", path, { amount: 24.98 })).body.message).toMatch(
      /refunded or settled, and 0\.00 is owed now/,
    );
    expect((await send("POST", path, { amount: 5, note: "goodwill" })).status).toBe(200);
    expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: 0 });
  });

  test("waits for a refund that is being made, and is then refused", { tags: "long" }, async () => {
    const bought = await order({ tick: 2 });
    await editTo(shop.storefront, bought.orderId, "tick", 1);
    const { splits } = await refund(bought);
    const path = `/admin/orders/${bought.orderId}/credit-lines`;
    const credit = { amount: -37.49, reference: "refund", reference_id: bought.orderId };
    const answers = await Promise.all([press(bought, splits[0]), send("POST", path, credit)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await pending(bought)).toBe(0);
  });

  for (const [name, reference, isOfCollection] of [
    ["an integration's line", "bookkeeping", false],
    ["a line that is named like Medusa's own", "payment_collection", true],
  ] as const)
    test(`by ${name}, beside a refund by hand and one of the plugin`, { tags: "long" }, async () => {
      const bought = await order({ tick: 4 });
      const { payment_collections } = await shop.storefront.order(bought.orderId);
      const id = isOfCollection ? payment_collections[0].id : bought.orderId;
      await editTo(shop.storefront, bought.orderId, "tick", 3);
      await giveBack(shop.storefront, bought.orderId);
      await editTo(shop.storefront, bought.orderId, "tick", 2);
      await settle(bought, -37.49, reference, id);
      expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: 0 });
      await editTo(shop.storefront, bought.orderId, "tick", 3);
      expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: 3749 });
      await settle(bought, 37.49, reference, id);
      expect([await pending(bought), await refund(bought)]).toMatchObject([0, { owedCents: 0, dueCents: 0 }]);
    });
});

describe("a payout by hand", () => {
  test("is recorded on the order's page, once, and counts as settled", async () => {
    const bought = await order({ tick: 2 });
    await editTo(shop.storefront, bought.orderId, "tick", 1);
    for (const amountCents of [3748, 0])
      expect((await press(bought, { amountCents, isPaidOut: true })).body.reasons).toMatchObject([
        { code: "owedChanged" },
        {},
      ]);
    const twice = () => press(bought, { amountCents: 3749, isPaidOut: true });
    expect((await Promise.all([twice(), twice()])).map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await refund(bought)).toMatchObject({ owedCents: 0, settledCents: -3749 });
    expect([await pending(bought), await bankCents(shop.storefront, bought.orderId)]).toEqual([0, 2498]);
  });
});

describe("a waived difference", () => {
  test("is not due, and what was paid is refunded with its show", async () => {
    const productId = await newShow("waived-show");
    const bought = await order({ "waived-show": 2 });
    await editTo(shop.storefront, bought.orderId, "waived-show", 3);
    await settle(bought, 37.49, "waived");
    expect([await pending(bought), await refund(bought)]).toMatchObject([0, { dueCents: 0, settledCents: 3749 }]);
    expect((await planOf(productId)).orders).toMatchObject([{ amountCents: 7498 }]);
  });

  test("that Medusa owes again after a return waits for a person in a bulk refund", { tags: "long" }, async () => {
    const productId = await newShow("credited-show");
    const bought = await order({ "credited-show": 2 });
    await editTo(shop.storefront, bought.orderId, "credited-show", 3);
    await settle(bought, 37.49, "waived");
    await editTo(shop.storefront, bought.orderId, "credited-show", 2);
    expect([await pending(bought), (await refund(bought)).owedCents]).toEqual([-3749, 3749]);
    expect((await planOf(productId)).refused).toMatchObject([
      { why: [{ code: "settled", values: { amountCents: 3749 } }, {}] },
    ]);
  });
});

describe("while an exchange or claim waits for its return", () => {
  test("a cheaper new item isn't due, and the difference is owed on receipt", async () => {
    const bought = await order({ tick: 2 });
    await fulfil(shop.storefront, bought.orderId, ["tick"]);
    const swap = await requestSwap(shop.storefront, bought.orderId, { kind: "exchange", back: "tick", instead: "mug" });
    expect(await pending(bought)).toBe(-1749);
    expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: 0, awaitsReturn: true });
    await receive(shop.storefront, swap.returnId, swap.items);
    expect(await refund(bought)).toMatchObject({ owedCents: 1749, dueCents: 0, awaitsReturn: false });
  });

  for (const kind of ["exchange", "claim"] as const)
    test(`only the difference to a dearer new item is due: ${kind}`, { tags: "long" }, async () => {
      const bought = await order({ tick: 2, mug: 1 });
      await fulfil(shop.storefront, bought.orderId, ["mug"]);
      const swap = await requestSwap(shop.storefront, bought.orderId, { kind, back: "mug", instead: "tick" });
      const due = Math.max(0, await pending(bought));
      expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: due });
      await receive(shop.storefront, swap.returnId, swap.items);
      expect([await pending(bought), (await refund(bought)).dueCents]).toEqual([due, due]);
    });

  test("what an earlier change owes is still refunded once", { tags: "long" }, async () => {
    const bought = await order({ tick: 3 });
    await editTo(shop.storefront, bought.orderId, "tick", 2);
    await fulfil(shop.storefront, bought.orderId, ["tick"]);
    const swap = await requestSwap(shop.storefront, bought.orderId, { kind: "exchange", back: "tick", instead: "mug" });
    expect((await refund(bought)).owedCents).toBeLessThanOrEqual(3749 + 1749);
    await receive(shop.storefront, swap.returnId, swap.items);
    expect(await refund(bought)).toMatchObject({ owedCents: 3749 + 1749 });
  });
});

describe("a payment that is captured in part", () => {
  test("is not due, and says that the rest isn't captured yet", async () => {
    const productId = await newShow("parcels");
    const bought = await order({ parcels: 2 }, false);
    const { gifts, others } = await paymentsIn(bought);
    await ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
    const capture = (amount: number) => ok("POST", `/admin/payments/${others[0].id}/capture`, { amount });
    await capture(4.98);
    expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: 0, notCapturedCents: 2000 });
    expect((await planOf(productId)).refused).toMatchObject([{ why: [{ code: "partlyCaptured" }] }]);
    expect(await creditLines(bought)).toEqual([]);
    await capture(20);
    expect(await refund(bought)).toMatchObject({ owedCents: 0, dueCents: 0, notCapturedCents: 0 });
    expect((await planOf(productId)).orders).toMatchObject([{ amountCents: 7498 }]);
  });
});

describe("a change after which Medusa would void an authorization", () => {
  test("is refused until the payment is captured", async () => {
    const bought = await order({ tick: 2 }, false);
    const { gifts, others } = await paymentsIn(bought);
    await ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
    const items = await itemsOf(shop.storefront, bought.orderId);
    await ok("POST", "/admin/order-edits", { order_id: bought.orderId });
    const path = `/admin/order-edits/${bought.orderId}`;
    await ok("POST", `${path}/items/item/${items.tick?.id}`, { quantity: 3 });
    const confirm = () => send("POST", `${path}/confirm`, {});
    expect((await confirm()).body.message).toMatch(
      /24\.98 of this order is authorized.*Capture the order's payments first/,
    );
    expect((await paymentsIn(bought)).others).toMatchObject([{ canceled_at: null }]);
    await ok("POST", `/admin/payments/${others[0].id}/capture`, {});
    expect((await confirm()).status).toBe(200);
    expect(await refund(bought)).toMatchObject({ dueCents: 3749 });
  });

  for (const kind of ["return", "exchange", "claim"] as const)
    test(`is refused: ${kind}`, { tags: "long" }, async () => {
      const bought = await order({ mug: 1, tick: 2 }, false);
      const { gifts } = await paymentsIn(bought);
      await ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
      await fulfil(shop.storefront, bought.orderId, ["mug"]);
      const change =
        kind === "return"
          ? takeBack(shop.storefront, bought.orderId, "mug", 1)
          : requestSwap(shop.storefront, bought.orderId, { kind, back: "mug", instead: "tick" });
      await expect(change).rejects.toThrow(/is authorized and isn't captured yet/);
      expect((await paymentsIn(bought)).others).toMatchObject([{ canceled_at: null }]);
    });

  test("is allowed if nothing is left to pay", { tags: "long" }, async () => {
    const bought = await order({ tick: 2 }, false);
    const { gifts } = await paymentsIn(bought);
    await ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
    await editItem(shop.storefront, bought.orderId, "tick", { quantity: 1 });
    expect(await refund(bought)).toMatchObject({ owedCents: 3749, captureCents: 2498 });
  });
});
