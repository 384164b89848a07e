import fc from "fast-check";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { holdOrder } from "../../../scripts/shops/vendure-shop.mjs";
import type { TestCard } from "../../../test/support/service.js";
import { addUpTo } from "../dist/lines.js";
import { useStage } from "./support/stage.js";

const stage = useStage();
const FAULT = "... on ErrorResult { errorCode message }";

test("makes the lines of any order add up to its total, to the cent", () => {
  const line = fc.record({
    quantity: fc.integer({ min: 1, max: 9 }),
    totalCents: fc.integer({ min: -5000, max: 90_000 }),
  });
  const carts = fc.tuple(fc.array(line, { maxLength: 8 }), fc.integer({ min: 1, max: 500_000 }));
  fc.assert(
    fc.property(carts, ([lines, totalCents]) => {
      const fitted = addUpTo(
        lines.map((each, index) => ({ ...each, id: `${index}` })),
        totalCents,
      );
      expect(fitted.reduce((sum, each) => sum + each.totalCents, 0)).toBe(totalCents);
      for (const each of fitted) expect(each.totalCents).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 1000 },
  );
});

async function write(statement: string, code: string) {
  const client = new pg.Client({ connectionString: stage().databaseUrl });
  await client.connect();
  const { rowCount } = await client.query(statement, [code]);
  await client.end();
  return rowCount;
}

/** Changes an order in Vendure's table, as a mutation does that has read it earlier. */
const overwrite = (code: string, set: string) => write(`update "order" set ${set} where code = $1`, code);

test.each(["ArrangingPayment", "AddingItems"])(
  "a placed order that Vendure overwrites as %s stays placed",
  { tags: "long" },
  async (state) => {
    const order = await stage().order(7500);
    await order.payByCard();
    await order.payByBank(2498);
    await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
    await overwrite(order.code, `state = '${state}', active = true, "orderPlacedAt" = null`);
    await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
    const query = `{ order(id: "${order.id}") { active orderPlacedAt history(options: { take: 100 }) { items { data } } } }`;
    const { active, orderPlacedAt, history } = await stage().admin().call(query);
    expect(active).toBe(false);
    expect(orderPlacedAt).not.toBeNull();
    const placements = history.items.filter(({ data }: { data: { to?: string } }) => data.to === "PaymentSettled");
    expect(placements).toHaveLength(1);
  },
);

test("settles an order that could only be authorized while a second payment of it was to be refunded", {
  tags: "long",
}, async () => {
  const order = await stage().order(7500);
  await order.payByCard();
  await order.payByBank(2498);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  await overwrite(order.code, "state = 'PaymentAuthorized'");
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
});

test("six shoppers whose bank declines go back, and pay again at once, each with the same card", {
  tags: "long",
}, async () => {
  const buy = async () => {
    const order = await stage().order(7500);
    await order.payByCard();
    await order.payByBank(1); // another amount: declined
    await order.moveTo("AddingItems");
    const read = () => order.call("{ giftcards { ... on GiftcardSummary { covered } } }");
    await expect.poll(read, { interval: 20 }).toEqual({ covered: 5000 });
    await order.moveTo("ArrangingPayment");
    // While the first charge is still being reversed, the card is declined.
    await expect.poll(() => order.payByCard()).toMatchObject({ state: "ArrangingPayment" });
    await order.payByBank(2498);
    await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  };
  await Promise.all(Array.from({ length: 6 }, buy));
});

test("stores no payment for cards whose reversal begins while the call waits for the order", async () => {
  const order = await stage().order(7500);
  const release = await holdOrder(stage().databaseUrl, order.code);
  const paying = order.payByCard();
  const begin = "update giftcard.giftcard_purchase set state = 'voiding' where order_id = $1 and state = 'pending'";
  await expect.poll(() => write(begin, order.code)).toBe(1);
  await release();
  expect(await paying).toMatchObject({ errorCode: "PAYMENT_DECLINED_ERROR" });
  await stage().expectHeld(order, { state: "ArrangingPayment", cards: 0, bank: 0 });
});

test("does not place an order whose currency has changed since its cards were charged", { tags: "long" }, async () => {
  const order = await stage().order(7500);
  await order.payByCard();
  await overwrite(order.code, `"currencyCode" = 'USD'`);
  await order.payByBank(2498);
  await stage().expectHeld(order, { state: "ArrangingPayment", cards: 0, bank: 0 });
});

test("declines other amounts than the page has shown, although the cards pay all of them", async () => {
  const order = await stage().order(5000, 5000);
  const shown = () => order.call("{ giftcards { ... on GiftcardSummary { plan cards { id } } } }");
  const pay = (metadata: object) =>
    order.call(
      `mutation ($input: PaymentInput!) { addPaymentToOrder(input: $input) { ... on Order { state } ... on PaymentDeclinedError { paymentErrorMessage } } }`,
      { input: { method: "giftcard", metadata } },
    );
  const { plan, cards } = await shown();
  // In another tab, the first card is removed and entered again: it now pays the other one's part.
  await order.call(`mutation { removeGiftcard(id: "${cards[0]?.id}") { __typename } }`);
  await order.apply(order.cards[0] as TestCard);
  for (const metadata of [{ plan }, {}, { plan: 7498 }, { plan: null }])
    expect(await pay(metadata)).toMatchObject({ paymentErrorMessage: expect.stringContaining("the page has shown") });
  expect(await stage().heldByCards(order)).toBe(0);
  expect(await pay({ plan: (await shown()).plan })).toMatchObject({ state: "PaymentSettled" });
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 7498, bank: 0 });
});

/** Adds a shipping method for 4.95 and a discount of 7 %, which produce fractions of cents, until the test ends. */
async function addShippingAndDiscount() {
  const admin = stage().admin();
  const translations = [{ languageCode: "en", name: "Post", description: "" }];
  const args = (values: Record<string, string>) => Object.entries(values).map(([name, value]) => ({ name, value }));
  const addMethod = "mutation ($input: CreateShippingMethodInput!) { createShippingMethod(input: $input) { id } }";
  const { id: method } = await admin.call(addMethod, {
    input: {
      ...{ code: "post", fulfillmentHandler: "manual-fulfillment", translations },
      checker: { code: "default-shipping-eligibility-checker", arguments: args({ orderMinimum: "0" }) },
      calculator: {
        code: "default-shipping-calculator",
        arguments: args({ rate: "495", includesTax: "include", taxRate: "9" }),
      },
    },
  });
  const { id: promotion } = await admin.call(
    `mutation ($input: CreatePromotionInput!) { createPromotion(input: $input) { ... on Promotion { id } ${FAULT} } }`,
    {
      input: {
        ...{ enabled: true, translations },
        conditions: [{ code: "minimum_order_amount", arguments: args({ amount: "100", taxInclusive: "true" }) }],
        actions: [{ code: "order_percentage_discount", arguments: args({ discount: "7" }) }],
      },
    },
  );
  onTestFinished(() =>
    admin.call(
      `mutation { deleteShippingMethod(id: "${method}") { result } deletePromotion(id: "${promotion}") { result } }`,
    ),
  );
}

test("charges and refunds an order with shipping, tax and a discount, charge by charge", async () => {
  await addShippingAndDiscount();
  const shopper = stage().shopper();
  const { code } = await shopper.order();
  await shopper.moveTo("AddingItems");
  const methods: { id: string; code: string }[] = await shopper.call("{ eligibleShippingMethods { id code } }");
  const post = methods.find((method) => method.code === "post")?.id;
  await shopper.call(
    `mutation { setOrderShippingMethod(shippingMethodId: ["${post}"]) { ... on Order { id } ${FAULT} } }`,
  );
  const [line] = (await shopper.call("{ activeOrder { lines { id } } }")).lines;
  await shopper.call(
    `mutation { adjustOrderLine(orderLineId: "${line.id}", quantity: 3) { ... on Order { id } ${FAULT} } }`,
  );
  const { totalWithTax } = await shopper.moveTo("ArrangingPayment");
  expect(totalWithTax).toBe(Math.round(3 * 3749 * 0.93) + 495);
  const cards = [await stage().issueCard(5000), await stage().issueCard(5000)];
  for (const card of cards) await shopper.apply(card);
  await shopper.payByCard();
  const bankCents = totalWithTax - 10_000;
  await shopper.payByBank(bankCents);
  const order = { code, cards, issuedCents: 10_000 };
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 10_000, bank: bankCents });

  const query = `{ giftcardCharges(options: { orderCode: "${code}" }) { items { amount } } }`;
  const { items }: { items: { amount: number }[] } = await stage().admin().call(query);
  expect(items.reduce((sum, { amount }) => sum + amount, 0)).toBe(10_000);
  const { id } = await stage().paymentOf(code, "giftcard");
  let held = 10_000;
  for (const { amount } of items) {
    expect(await stage().admin().refund(id, amount)).toMatchObject({ state: "Settled" });
    held -= amount;
    await stage().expectHeld(order, { state: "PaymentSettled", cards: held, bank: bankCents });
  }
  expect(held).toBe(0);
});
