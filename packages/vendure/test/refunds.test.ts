import pg from "pg";
import { expect, test } from "vitest";
import { useStage } from "./support/stage.js";

const stage = useStage();

/** A paid order of two tickets: 50.00 by a card, 24.98 by the bank. */
async function paidOrder() {
  const order = await stage().order(7500);
  await order.payByCard();
  await order.payByBank(2498);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  return order;
}

test("refunds a ticket that the card has paid, to the cent", { tags: "long" }, async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  expect(await stage().admin().refund(id, 3749)).toMatchObject({ state: "Settled", total: 3749 });
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 1251, bank: 2498 });
});

test("refunds a ticket by its line: the card's part to the card, and the bank's part to the bank", async () => {
  const order = await paidOrder();
  const card = await stage().paymentOf(order.code, "giftcard");
  const bank = await stage().paymentOf(order.code, "bank");
  expect(await stage().admin().refund(card.id, 1251)).toMatchObject({ state: "Settled" });
  expect(await stage().admin().refund(bank.id, 2498)).toMatchObject({ state: "Settled" });
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 3749, bank: 0 });
});

test("refuses an amount that no charges add up to, names the nearest ones, and refunds nothing", {
  tags: "long",
}, async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  const refused = /Possible: 12\.51 or 37\.49; or 12\.51 here and 7\.49 by another payment\./;
  await expect(stage().admin().refund(id, 2000)).rejects.toThrow(refused);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
});

test("a refusal splits a refund by the returned tickets", { tags: "long" }, async () => {
  const order = await stage().order();
  await order.moveTo("AddingItems");
  const [line] = (await order.call("{ activeOrder { lines { id } } }")).lines;
  await order.call(`mutation { adjustOrderLine(orderLineId: "${line.id}", quantity: 3) { ... on Order { id } } }`);
  await order.moveTo("ArrangingPayment");
  const card = await stage().issueCard(5000);
  await order.apply(card);
  await order.payByCard();
  await order.payByBank(6247);
  const { id } = await stage().paymentOf(order.code, "giftcard");
  // The card has paid the first ticket and 12.51 of the second one.
  const refund = (quantity: number, amount: number) =>
    stage()
      .admin()
      .ask("mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { ... on Refund { state } } }", {
        input: { paymentId: id, amount, lines: [{ orderLineId: line.id, quantity }], shipping: 0, adjustment: 0 },
      });
  await expect(refund(2, 4000)).rejects.toThrow(/; or 12\.51 here and 27\.49 by another payment\./);
  await expect(refund(1, 3748)).rejects.toThrow(/; or 37\.48 by another payment\./);
  await stage().expectHeld(
    { ...order, cards: [card], issuedCents: 5000 },
    { state: "PaymentSettled", cards: 5000, bank: 6247 },
  );
});

test("refunds a part, then the rest of the cards, and no more", { tags: "long" }, async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  await stage().admin().refund(id, 3749);
  await stage().admin().refund(id, 1251);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 0, bank: 2498 });
  await expect(stage().admin().refund(id, 1)).rejects.toThrow();
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 0, bank: 2498 });
});

test("keeps a refund pending while the service can't be reached, and settles it later", async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  stage().proxy.set("canceldevalue", "cut-before");
  expect(await stage().admin().refund(id, 3749)).toMatchObject({ state: "Pending", total: 3749 });
  stage().proxy.clear();
  await expect
    .poll(async () => (await stage().paymentOf(order.code, "giftcard")).refunds)
    .toEqual([{ state: "Settled", total: 3749 }]);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 1251, bank: 2498 });
});

test("cancels an order after a partial refund, and refunds only what is left", { tags: "long" }, async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  await stage().admin().refund(id, 3749);
  await stage().admin().cancel(order.id);
  await stage().expectHeld(order, { state: "Cancelled", cards: 0, bank: 0 });
});

test("returns the card's money if the shopper goes back to the cart, and charges it again", async () => {
  const order = await stage().order(7500);
  await order.payByCard();
  await order.moveTo("AddingItems");
  await stage().expectHeld(order, { state: "AddingItems", cards: 0, bank: 0 });
  await order.moveTo("ArrangingPayment");
  await order.payByCard();
  await order.payByBank(2498);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
});

test("refunds to the card what a modification of a placed order takes off", { tags: "long" }, async () => {
  const order = await paidOrder();
  const admin = stage().admin();
  const FAULT = "... on ErrorResult { errorCode message }";
  const [line] = (await admin.call(`{ order(id: "${order.id}") { lines { id } } }`)).lines;
  await admin.call(
    `mutation { transitionOrderToState(id: "${order.id}", state: "Modifying") { ... on Order { id } ${FAULT} } }`,
  );
  const { id: paymentId } = await stage().paymentOf(order.code, "giftcard");
  await admin.call(
    `mutation ($input: ModifyOrderInput!) { modifyOrder(input: $input) { ... on Order { id totalWithTax } ${FAULT} } }`,
    {
      input: {
        ...{ dryRun: false, orderId: order.id, adjustOrderLines: [{ orderLineId: line.id, quantity: 1 }] },
        refunds: [{ paymentId, amount: 3749, reason: "one less" }],
      },
    },
  );
  await admin.call(
    `mutation { transitionOrderToState(id: "${order.id}", state: "PaymentSettled") { ... on Order { id } ${FAULT} } }`,
  );
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 1251, bank: 2498 });
});

test("records in Vendure a refund whose transaction was lost after the cards were reversed", {
  tags: "long",
}, async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  const release = await stage().lockRefunds();
  // The charge is reversed, then Vendure can't write the refund.
  const refunding = stage()
    .admin()
    .refund(id, 3749)
    .catch((error: Error) => error);
  await expect.poll(() => stage().heldByCards(order)).toBe(1251);
  await stage().killAndStart();
  await refunding;
  await release();
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 1251, bank: 2498 });
});

/** Enables or disables the payment method of gift cards. */
async function enableCards(enabled: boolean) {
  const { items } = await stage().admin().call("{ paymentMethods { items { id code } } }");
  const { id } = items.find(({ code }: { code: string }) => code === "giftcard");
  await stage()
    .admin()
    .call("mutation ($input: UpdatePaymentMethodInput!) { updatePaymentMethod(input: $input) { id } }", {
      input: { id, enabled },
    });
}

test("makes a refund that Vendure stored while the payment method was disabled", { tags: "long" }, async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  await enableCards(false);
  expect(await stage().admin().refund(id, 3749)).toMatchObject({ state: "Pending" });
  await expect.poll(() => stage().heldByCards(order)).toBe(1251);
  await enableCards(true);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 1251, bank: 2498 });
  expect((await stage().paymentOf(order.code, "giftcard")).refunds).toEqual([{ state: "Settled", total: 3749 }]);
});

test("a canceled order's refund is pending until its cards have their money back", async () => {
  const order = await paidOrder();
  stage().proxy.set("canceldevalue", "error");
  await stage().admin().cancel(order.id);
  const refunds = async () => (await stage().paymentOf(order.code, "giftcard")).refunds;
  await expect.poll(refunds).toEqual([{ state: "Pending", total: 5000 }]);
  expect(await stage().heldByCards(order)).toBe(5000);
  stage().proxy.clear();
  await expect.poll(refunds).toEqual([{ state: "Settled", total: 5000 }]);
  await stage().expectHeld(order, { state: "Cancelled", cards: 0, bank: 0 });
});

test("refuses to cancel the settled payment of a placed order", { tags: "long" }, async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  await stage().admin().ask(`mutation { cancelPayment(id: "${id}") { ... on Payment { state } } }`);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  expect((await stage().paymentOf(order.code, "giftcard")).state).toBe("Settled");
});

test("refuses to cancel a payment that Vendure read right before the order was paid", async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  const [locks, database] = [new pg.Client(stage().databaseUrl), new pg.Client(stage().databaseUrl)];
  await Promise.all([locks.connect(), database.connect()]);
  const setState = (state: string) => database.query("update payment set state = $1 where id = $2", [state, id]);
  const waiting = async () => {
    const sql = "select from pg_locks where not granted and relation = 'payment_method'::regclass";
    return (await database.query(sql)).rowCount;
  };
  try {
    // Vendure reads the payment, then its method. The lock of the order stops the plugin from settling the payment again.
    await locks.query("begin");
    await locks.query('select from "order" where code = $1 for no key update', [order.code]);
    await locks.query("lock table payment_method in access exclusive mode");
    await setState("Authorized");
    const canceled = stage()
      .admin()
      .ask(`mutation { cancelPayment(id: "${id}") { ... on Payment { state } ... on ErrorResult { message } } }`);
    await expect.poll(waiting).toBe(1);
    await setState("Settled");
    await locks.query("commit");
    expect(await canceled).toEqual({ message: expect.any(String) });
  } finally {
    await Promise.all([locks.end(), database.end()]);
  }
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  expect((await stage().paymentOf(order.code, "giftcard")).state).toBe("Settled");
});
