// @module-tag long

import pg from "pg";
import { expect, test } from "vitest";
import { useStage } from "./support/stage.js";

const stage = useStage();
const FAULT = "... on ErrorResult { errorCode message }";
const CHARGES = `query ($options: GiftcardChargeOptions) {
  giftcardCharges(options: $options) { totalItems items { reference orderCode state amount lastFour } }
}`;
const decision = (name: string) =>
  `mutation ($reference: String!) { ${name}(reference: $reference) { reference state } }`;

async function paidOrder() {
  const order = await stage().order(7500);
  await order.payByCard();
  await order.payByBank(2498);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  return order;
}

/** Refunds an order whose cancel token can't be opened, so that a person has to decide. */
async function needingAttention() {
  const order = await paidOrder();
  const books = new pg.Client({ connectionString: stage().databaseUrl });
  await books.connect();
  await books.query(
    "update giftcard.giftcard_charge set sealed_token = left(sealed_token, -10) || 'AAAAAAAAAA' where order_id = $1",
    [order.code],
  );
  await books.end();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  expect(await stage().admin().refund(id, 5000)).toMatchObject({ state: "Pending" });
  const options = { orderCode: order.code, states: ["needs_attention"] };
  await expect.poll(async () => (await stage().admin().call(CHARGES, { options })).totalItems).toBeGreaterThan(0);
  const { items } = await stage().admin().call(CHARGES, { options });
  return { order, items: items as { reference: string; amount: number }[] };
}

/** Creates an administrator with these permissions, and logs in. */
async function administrator(permissions: string[], channel?: { id: string; token: string }) {
  const admin = stage().admin();
  const code = `role-${permissions.join("-")}-${channel?.token ?? ""}`.toLowerCase();
  const { id: roleId } = await admin.call("mutation ($input: CreateRoleInput!) { createRole(input: $input) { id } }", {
    input: { code, description: code, permissions, ...(channel && { channelIds: [channel.id] }) },
  });
  const emailAddress = `${code}@example.com`;
  await admin.call("mutation ($input: CreateAdministratorInput!) { createAdministrator(input: $input) { id } }", {
    input: { firstName: "A", lastName: "B", emailAddress, password: "a-long-password", roleIds: [roleId] },
  });
  return stage().openAdmin({ username: emailAddress, ...(channel && { channel: channel.token }) }, "a-long-password");
}

test("reports the health of the service", async () => {
  // The orders of earlier files may be failing. The first recovery runs after a second.
  await expect
    .poll(() => stage().admin().call("{ giftcardHealth }"))
    .toMatchObject({ purchases: { failing: expect.any(Number) }, recovery: { isLate: false } });
});

test("lists the charges of an order by unit", async () => {
  const order = await paidOrder();
  const { items } = await stage()
    .admin()
    .call(CHARGES, { options: { orderCode: order.code } });
  const amounts = items.map(({ amount, state }: { amount: number; state: string }) => `${amount} ${state}`);
  expect(amounts.sort()).toEqual(["1251 committed", "3749 committed"]);
});

test("shows a person the facts of a charge, records the decision, and settles the refund", async () => {
  const { order, items } = await needingAttention();
  const evidence = `query ($reference: String!) { giftcardEvidence(reference: $reference) {
    charge { state amount } balanceBefore actions { action actor toState } otherChargesOfCard { reference }
  } }`;
  const [{ reference }] = items as [{ reference: string }];
  expect(await stage().admin().call(evidence, { reference })).toMatchObject({
    charge: { state: "needs_attention" },
    balanceBefore: 7500,
    actions: [],
  });
  for (const item of items) {
    const decided = await stage().admin().call(decision("markGiftcardChargeNotTaken"), { reference: item.reference });
    expect(decided.state).toMatch(/^(reversed|refused)$/);
  }
  expect(await stage().admin().call(evidence, { reference })).toMatchObject({
    actions: [{ action: "mark_not_taken", actor: "superadmin" }],
  });
  await expect
    .poll(async () => (await stage().paymentOf(order.code, "giftcard")).refunds)
    .toEqual([{ state: "Settled", total: 5000 }]);
  expect(await stage().admin().call(decision("retryGiftcardCharge"), { reference })).toBeNull();
});

test("a refund has failed if a person decides that the money stays off the card", { tags: "long" }, async () => {
  const { order, items } = await needingAttention();
  for (const { reference } of items)
    expect(await stage().admin().call(decision("markGiftcardChargeTaken"), { reference })).toMatchObject({
      state: "taken",
    });
  await expect
    .poll(async () => (await stage().paymentOf(order.code, "giftcard")).refunds)
    .toEqual([{ state: "Failed", total: 5000 }]);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
});

test("requires the permissions ReadGiftcards and WriteGiftcards", async () => {
  const { items } = await needingAttention();
  const reference = items[0]?.reference;
  const stranger = await administrator(["ReadOrder"]);
  await expect(stranger.call(CHARGES)).rejects.toThrow(/not currently authorized/);
  const reader = await administrator(["ReadGiftcards"]);
  expect((await reader.call(CHARGES)).totalItems).toBeGreaterThan(0);
  await expect(reader.call(decision("markGiftcardChargeTaken"), { reference })).rejects.toThrow(
    /not currently authorized/,
  );
  const writer = await administrator(["ReadGiftcards", "WriteGiftcards"]);
  expect(await writer.call(decision("markGiftcardChargeTaken"), { reference })).toMatchObject({ state: "taken" });
});

test("the administrator of a channel can't reach the charges of another channel's orders", {
  tags: "long",
}, async () => {
  const order = await paidOrder();
  const token = "another-channel";
  const { zones } = { zones: await stage().admin().call("{ zones { items { id } } }") };
  const zone = zones.items[0].id;
  const channel = await stage()
    .admin()
    .call(
      `mutation ($input: CreateChannelInput!) { createChannel(input: $input) { ... on Channel { id token } ${FAULT} } }`,
      {
        input: {
          ...{ code: token, token, defaultLanguageCode: "en", defaultCurrencyCode: "EUR", pricesIncludeTax: true },
          ...{ defaultTaxZoneId: zone, defaultShippingZoneId: zone },
        },
      },
    );
  const admin = await administrator(["ReadGiftcards", "WriteGiftcards", "ReadOrder"], channel);
  const options = { orderCode: order.code };
  const { items } = await stage().admin().call(CHARGES, { options });
  await expect(admin.call(CHARGES, { options })).rejects.toThrow(/not currently authorized/);
  await expect(admin.call(CHARGES)).rejects.toThrow(/default channel/);
  const { reference } = items[0];
  await expect(admin.call(decision("retryGiftcardCharge"), { reference })).rejects.toThrow(/not currently authorized/);
  for (const call of ["giftcardPurchase", "retryGiftcardPurchase", "refundGiftcardOvercollection"]) {
    const kind = call === "giftcardPurchase" ? "query" : "mutation";
    const fields = call === "refundGiftcardOvercollection" ? "" : "{ state }";
    const asked = admin.call(`${kind} { ${call}(orderCode: "${order.code}") ${fields} }`);
    await expect(asked).rejects.toThrow(/not currently authorized/);
  }
});

test("leaves a refund that another provider refuses to a person, after three tries", { tags: "long" }, async () => {
  const order = await paidOrder();
  await stage().refundAtBank(order.id, 2498);
  await stage().admin().cancel(order.id);
  const failing = "{ giftcardPurchases { items { orderCode state lastError } } }";
  await expect
    .poll(async () => (await stage().admin().call(failing)).items)
    .toContainEqual({ orderCode: order.code, state: "canceling", lastError: expect.stringContaining("refund_failed") });
  await expect.poll(() => stage().heldByCards(order)).toBe(0);
  const failed = async () => (await stage().paymentOf(order.code, "bank")).refunds.length;
  await expect.poll(failed).toBe(3);
  // Recovery runs every second.
  const lastRun = () => stage().lastRecovery();
  for (let runs = 0; runs < 3; runs += 1) {
    const before = await lastRun();
    await expect.poll(lastRun).not.toBe(before);
  }
  expect(await failed()).toBe(3);
});

test("reconciles the charges with Vendure's payments", async () => {
  const order = await paidOrder();
  const { id } = await stage().paymentOf(order.code, "giftcard");
  await stage().admin().refund(id, 3749);
  const today = new Date().toLocaleDateString("sv", { timeZone: "Europe/Amsterdam" });
  const query = `{ giftcardReconciliation(from: "${today}", to: "${today}") { charges payments differences text } }`;
  const { charges, payments, differences } = await stage().admin().call(query);
  expect(charges).toBeGreaterThan(0);
  expect(payments).toBeGreaterThan(0);
  const ofOrder = differences.filter((one: { orderId: string }) => one.orderId === order.code);
  expect(ofOrder).toEqual([]);
  await expect(stage().admin().call(query.replaceAll(today, "yesterday"))).rejects.toThrow(/yyyy-mm-dd/);
});
