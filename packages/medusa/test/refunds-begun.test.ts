import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("by-line");
  await shop.storefront.createProduct("concert", 25);
  await shop.storefront.createProduct("film", 5);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(() => database?.end());

const admin = (path: string, body: unknown = {}) => shop.storefront.send("POST", `/admin/${path}`, body);
const figures = async (orderId: string) => figuresOf(await shop.storefront.order(orderId));
const recover = () => shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
const refundOf = async (orderId: string) =>
  (await shop.storefront.ok("GET", `/admin/giftcard-pay/orders/${orderId}/refund`)).refund;

/** Two concert tickets, 43.75 by card (25.00 and 18.75) and 6.25 by the bank; or ten film tickets, all by card. */
async function bought(handle: "concert" | "film") {
  const card = await shop.service.issueCard({ balanceCents: handle === "concert" ? 4375 : 5000 });
  const cartId = await shop.storefront.createCart(handle, handle === "concert" ? 2 : 10);
  await shop.storefront.apply(cartId, card);
  await shop.storefront.initiate(cartId);
  const orderId = (await shop.storefront.complete(cartId)).body.order.id as string;
  const { gifts, others } = paymentsOf(await shop.storefront.order(orderId));
  for (const { id } of [...gifts, ...others]) await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  return { card, cartId, orderId, giftId: gifts[0].id as string };
}

/** A refund whose row Medusa wrote before it crashed, without calling the provider. */
const begunRefund = (paymentId: string, amount: string) =>
  database.query(
    `insert into refund (id, amount, raw_amount, payment_id, created_at, updated_at)
     values ($1, $2::numeric, jsonb_build_object('value', $2::text, 'precision', 20), $3, now(), now())`,
    [`ref_${paymentId}_${amount}`, amount, paymentId],
  );

async function breaking(table: string, when: string, work: () => Promise<unknown>) {
  await database.query(`create function broken() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
    create trigger broken before ${when} on ${table} for each row execute function broken()`);
  await work();
  await database.query(`drop trigger broken on ${table}; drop function broken()`);
}

test("a refund that Medusa deleted after the card was credited is not made twice", { tags: "long" }, async () => {
  const { card, orderId } = await bought("concert");
  await shop.storefront.returnItem(orderId, 1, 2);
  const path = `giftcard-pay/orders/${orderId}/refund`;
  // Medusa calls the provider, fails to write the result, and deletes the refund.
  await breaking("payment", "update", async () => {
    expect((await admin(path, (await refundOf(orderId)).splits[0])).status).toBe(500);
  });
  expect(await shop.balanceCents(card)).toBe(1875);
  await shop.passTime(200_000);
  await recover();
  await admin(path, (await refundOf(orderId)).splits[0]);
  // One ticket of 25.00 is returned: 18.75 to the card, 6.25 to the bank.
  expect(await shop.balanceCents(card)).toBe(1875);
});

test("a second refund waits for the one in progress, and both are recorded with their own amounts", {
  tags: "long",
}, async () => {
  const { card, orderId, giftId } = await bought("concert");
  await begunRefund(giftId, "25");
  expect((await admin(`payments/${giftId}/refund`, { amount: 18.75 })).status).toBe(200);
  expect(await shop.balanceCents(card)).toBe(4375);
  expect(await figures(orderId)).toMatchObject({ refunded: 43.75 });
});

test("an interrupted refund is completed and recorded with its own amount, even if another one comes first", {
  tags: "long",
}, async () => {
  const { card, orderId, giftId } = await bought("film");
  await begunRefund(giftId, "5");
  expect((await admin(`payments/${giftId}/refund`, { amount: 10 })).status).toBe(200);
  await shop.passTime(200_000);
  await recover();
  expect.soft(await shop.balanceCents(card)).toBe(1500);
  expect(await figures(orderId)).toMatchObject({ refunded: 15 });
});

test("an interrupted refund is completed before the rest of what is owed, and made once", {
  tags: "long",
}, async () => {
  const { card, orderId, giftId } = await bought("concert");
  await shop.storefront.returnItem(orderId, 1, 2);
  await begunRefund(giftId, "18.75");
  const path = `giftcard-pay/orders/${orderId}/refund`;
  const { owedCents, splits } = await refundOf(orderId);
  expect(owedCents).toBe(625);
  expect((await admin(path, splits[0])).status).toBe(200);
  expect(await shop.balanceCents(card)).toBe(1875);
  expect((await admin(path, splits[0])).status).toBe(400);
  await shop.passTime(200_000);
  await recover();
  expect(await shop.balanceCents(card)).toBe(1875);
  expect(await figures(orderId)).toMatchObject({ refunded: 25, outstanding: 0 });
});

test("an interrupted refund is recorded even if the order is canceled before recovery", { tags: "long" }, async () => {
  const { card, orderId, giftId } = await bought("concert");
  await begunRefund(giftId, "18.75");
  expect((await admin(`orders/${orderId}/cancel`)).status).toBe(200);
  await shop.passTime(200_000);
  await recover();
  expect(await shop.balanceCents(card)).toBe(4375);
  expect(await figures(orderId)).toMatchObject({ refunded: 50 });
});

test("a canceled order with a charge marked as taken is settled", async () => {
  const { cartId, orderId } = await bought("concert");
  // Medusa cancels the order but can't write its refunds.
  await breaking("refund", "insert", () => admin(`orders/${orderId}/cancel`));
  const { rows } = await database.query(
    // The harder order: recovery processes this refund first.
    `update giftcard_charge set sealed_token = 'broken'
     where reference = (select min(reference) from giftcard_charge where cart_id = $1) returning reference`,
    [cartId],
  );
  await recover();
  expect((await admin(`giftcard-pay/charges/${rows[0].reference}/mark-taken`)).status).toBe(200);
  const { failed } = await recover();
  expect(failed.filter((job: { orderId: string }) => job.orderId === orderId)).toEqual([]);
});

test("the rest of a by-line payment is not listed as charged at once", async () => {
  const { giftId } = await bought("concert");
  expect((await admin(`payments/${giftId}/refund`, { amount: 18.75 })).status).toBe(200);
  expect((await admin(`payments/${giftId}/refund`, { amount: 10 })).body.message).not.toContain("charged at once");
});

describe("a bank refund with an unknown outcome", () => {
  const refundId = (paymentId: string) => `ref_${paymentId}_6.25`;
  const jobOf = async (paymentId: string) => {
    const { jobs } = await shop.storefront.ok("GET", "/admin/giftcard-pay/jobs");
    return jobs.find((job: { id: string }) => job.id === refundId(paymentId));
  };
  const decide = (paymentId: string, what: "exempt" | "retry") =>
    admin(`giftcard-pay/jobs/unknown_refund/${refundId(paymentId)}/${what}`);
  const refundsOf = async (orderId: string) =>
    paymentsOf(await shop.storefront.order(orderId)).others[0].refunds.map(
      (refund: { amount: number }) => refund.amount,
    );

  /** A returned ticket whose card part is refunded; the process crashed after beginning the bank's part. */
  async function undecided() {
    const { orderId, giftId } = await bought("concert");
    await shop.storefront.returnItem(orderId, 1, 2);
    expect((await admin(`payments/${giftId}/refund`, { amount: 18.75 })).status).toBe(200);
    const { others } = paymentsOf(await shop.storefront.order(orderId));
    const bankId = others[0].id as string;
    await begunRefund(bankId, "6.25");
    return { orderId, bankId };
  }

  test("blocks another refund until a person has checked", async () => {
    const { orderId, bankId } = await undecided();
    const { splits } = await refundOf(orderId);
    const answer = await admin(`giftcard-pay/orders/${orderId}/refund`, splits[0] ?? { parts: [] });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining("Nothing was") } });
    expect(await refundsOf(orderId)).toEqual([6.25]);
    await shop.passTime(200_000);
    await recover();
    await recover();
    expect(await jobOf(bankId)).toMatchObject({ orderId, lastError: expect.stringContaining("say whether") });
    expect(await figures(orderId)).toMatchObject({ refunded: 18.75 });
  });

  test("is recorded once a person confirms it", async () => {
    const { orderId, bankId } = await undecided();
    await shop.passTime(200_000);
    await recover();
    expect((await decide(bankId, "exempt")).status).toBe(200);
    expect((await decide(bankId, "exempt")).status).toBe(400);
    expect(await figures(orderId)).toMatchObject({ refunded: 25, outstanding: 0 });
    await recover();
    expect(await jobOf(bankId)).toBeUndefined();
    expect(await refundsOf(orderId)).toEqual([6.25]);
  });

  test("is owed again if a person denies it, which refunds nothing by itself", { tags: "long" }, async () => {
    const { orderId, bankId } = await undecided();
    await shop.passTime(200_000);
    await recover();
    const answers = await Promise.all([decide(bankId, "retry"), decide(bankId, "retry")]);
    expect(answers.map(({ status }) => status)).toContain(200);
    expect([await refundsOf(orderId), await jobOf(bankId)]).toEqual([[], undefined]);
    const { owedCents, splits } = await refundOf(orderId);
    expect(owedCents).toBe(625);
    expect((await admin(`giftcard-pay/orders/${orderId}/refund`, splits[0])).status).toBe(200);
    expect(await figures(orderId)).toMatchObject({ refunded: 25, outstanding: 0 });
    expect(await refundsOf(orderId)).toEqual([6.25]);
  });

  test("prevents Medusa's refunds and cancels from recording it with another amount", { tags: "long" }, async () => {
    const { orderId, bankId } = await undecided();
    for (const [path, body] of [
      [`payments/${bankId}/refund`, { amount: 1 }],
      [`orders/${orderId}/cancel`, {}],
    ] as const)
      expect(await admin(path, body)).toMatchObject({
        ...{ status: 400, body: { message: expect.stringContaining("decide that first") } },
      });
    expect(await refundsOf(orderId)).toEqual([6.25]);
    expect(await figures(orderId)).toMatchObject({ refunded: 18.75, status: "pending" });
  });

  test("is waived once, even if the process crashes between waiving and recording it", { tags: "long" }, async () => {
    const { orderId } = await bought("concert");
    const bankId = paymentsOf(await shop.storefront.order(orderId)).others[0].id as string;
    await begunRefund(bankId, "6.25");
    await shop.passTime(200_000);
    await recover();
    await breaking("order_transaction", "insert", async () => {
      expect((await decide(bankId, "exempt")).status).toBe(500);
    });
    expect((await decide(bankId, "exempt")).status).toBe(200);
    expect(await figures(orderId)).toMatchObject({ refunded: 6.25, outstanding: 0 });
  });

  test("above what the order owes is waived when recorded", { tags: "long" }, async () => {
    const { orderId } = await bought("concert");
    const bankId = paymentsOf(await shop.storefront.order(orderId)).others[0].id as string;
    await begunRefund(bankId, "6.25");
    await shop.passTime(200_000);
    await recover();
    expect((await decide(bankId, "exempt")).status).toBe(200);
    expect(await figures(orderId)).toMatchObject({ refunded: 6.25, outstanding: 0 });
  });
});
