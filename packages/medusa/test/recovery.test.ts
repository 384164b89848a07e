import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type SharedShop, sharedShop, type TestPeer } from "./support/shop.js";
import type { Storefront } from "./support/storefront.js";

/** The time after which recovery may void a stalled completion. */
const LEASE_MS = 120_000;

let shop: SharedShop;
let peer: TestPeer;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("whole");
  peer = await shop.peer();
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(async () => {
  shop.proxy.clear();
  await shop.proxy.release();
});
afterAll(() => database?.end());

/** Reads something in a loop until it is as expected, after recovery has run in the other process each time. */
const recovered = <T>(read: () => Promise<T>) =>
  expect.poll(() => peer.storefront.ok("POST", "/admin/giftcard-pay/recover", {}).then(read), { interval: 300 });

/** A cart for 74.98 with a card of 75.00 and a session for the remainder. */
async function readyCart(data?: Record<string, unknown>) {
  const card = await shop.service.issueCard({ balanceCents: 7500 });
  const cartId = await shop.storefront.createCart();
  await shop.storefront.apply(cartId, card);
  await shop.storefront.initiate(cartId, "pp_bank_bank", data);
  return { card, cartId };
}

/** A cart's orders with their payments, read through the other process. */
async function ordersOf(cartId: string) {
  const fields = "id,status,cart.id,*payment_collections.payments";
  const { orders } = await peer.storefront.ok("GET", `/admin/orders?fields=${fields}&limit=200&order=-created_at`);
  // biome-ignore lint/suspicious/noExplicitAny: orders as Medusa's admin shows them
  return orders.filter((order: any) => order.cart?.id === cartId) as any[];
}

const stateOf = async (cartId: string) => {
  const { rows } = await database.query("select state from giftcard_charge where cart_id = $1", [cartId]);
  return rows.map(({ state }) => state as string).sort();
};

/** Expects no order to ship, no money held by any method, and the card's full balance. */
async function expectVoided({ card, cartId }: Awaited<ReturnType<typeof readyCart>>) {
  await recovered(() => shop.balanceCents(card)).toBe(7500);
  const living = async () => (await ordersOf(cartId)).filter((order) => order.status !== "canceled");
  await recovered(living).toEqual([]);
  const held = async () => {
    const { rows } = await database.query(
      `select payment.provider_id from payment join cart_payment_collection link using (payment_collection_id)
       where link.cart_id = $1 and payment.canceled_at is null and payment.deleted_at is null`,
      [cartId],
    );
    return rows;
  };
  await recovered(held).toEqual([]);
}

describe("a completion that stalls past its lease and then continues", () => {
  async function frozen(ready: Awaited<ReturnType<typeof readyCart>>, when: () => Promise<void>) {
    const call = shop.storefront.complete(ready.cartId).catch(() => null);
    await when();
    process.kill(shop.medusa.pid, "SIGSTOP");
    try {
      await shop.proxy.release();
      await shop.passTime(LEASE_MS);
      // The other process voids the completion and cancels its order.
      await recovered(() => stateOf(ready.cartId)).toEqual(["reversed"]);
      const statuses = async () => (await ordersOf(ready.cartId)).map(({ status }) => status);
      await recovered(statuses).toEqual(["canceled"]);
    } finally {
      process.kill(shop.medusa.pid, "SIGCONT");
    }
    const answer = await call;
    expect(answer?.body?.type).not.toBe("order");
    await expectVoided(ready);
  }

  test("while charging the card: nothing stays charged, and no order stands", { tags: "long" }, async () => {
    const ready = await readyCart();
    shop.proxy.set("devalue", "hold", 1);
    const before = shop.proxy.seen.length;
    await frozen(ready, () =>
      expect.poll(() => shop.proxy.seen.slice(before).some(({ operation }) => operation === "devalue")).toBe(true),
    );
  });

  test("while authorizing the remainder: the remainder is canceled too", async () => {
    const ready = await readyCart({ behaviour: "slow" });
    // Freezing it earlier, during a write, would keep its row locks and block the other process.
    const asked = () => shop.medusa.logs().split("the bank takes its time").length;
    const before = asked();
    await frozen(ready, () => expect.poll(asked, { interval: 50 }).toBe(before + 1));
  });

  test("before charging anything: it can no longer begin", { tags: "long" }, async () => {
    const ready = await readyCart();
    const found = async (statement: string) => (await database.query(statement)).rowCount;
    // Recovery claims charges before it reads anything else, so this blocks it in both processes.
    await database.query("begin; lock table giftcard_charge in share mode");
    await sleep(1000);
    const call = shop.storefront.complete(ready.cartId).catch(() => null);
    try {
      const hold = `select from giftcard_cart_lease where cart_id = '${ready.cartId}'`;
      await expect.poll(() => found(hold), { interval: 1 }).toBe(1);
      // The completion reads the cards after its order exists, just before it begins a charge.
      await database.query("lock table giftcard_tender in access exclusive mode");
      const reading = `select from pg_locks where not granted and relation = 'giftcard_tender'::regclass
        and database = (select oid from pg_database where datname = current_database())`;
      // A recovery run already in progress may also wait for the cards.
      await expect.poll(() => ordersOf(ready.cartId), { interval: 50 }).toHaveLength(1);
      await expect.poll(() => found(reading), { interval: 50 }).toBeGreaterThan(0);
      process.kill(shop.medusa.pid, "SIGSTOP");
      await database.query("commit");
      await shop.passTime(LEASE_MS);
      const statuses = async () => (await ordersOf(ready.cartId)).map(({ status }) => status);
      await recovered(statuses).toEqual(["canceled"]);
    } finally {
      await database.query("rollback");
      process.kill(shop.medusa.pid, "SIGCONT");
    }
    expect((await call)?.body?.type).not.toBe("order");
    expect(await stateOf(ready.cartId)).toEqual([]);
    await expectVoided(ready);
  });
});

/** Sends the bank's webhook for the cart's session to the other process. */
async function tellOf(cartId: string, action: string): Promise<void> {
  const { rows } = await database.query(
    `select session.id, session.amount from payment_session session
     join cart_payment_collection link on link.payment_collection_id = session.payment_collection_id
     where link.cart_id = $1 and session.provider_id = 'pp_bank_bank' and session.deleted_at is null`,
    [cartId],
  );
  const body = { action, session_id: rows[0].id, amount: Number(rows[0].amount) };
  const response = await fetch(`${peer.medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}

describe("two processes on one database", () => {
  const both = (): [Storefront, Storefront] => [shop.storefront, peer.storefront];
  const ordered = (answers: { body: { type?: string } }[]) =>
    answers.filter(({ body }) => body.type === "order").length;

  test("complete the same cart at once: one order, charged once, and both return it", async () => {
    for (const delayMs of [0, 0, 0, 20, 60, 150]) {
      const { card, cartId } = await readyCart();
      const [one, other] = await Promise.all([
        shop.storefront.complete(cartId),
        sleep(delayMs).then(() => peer.storefront.complete(cartId)),
      ]);
      expect(one.body, JSON.stringify(one.body)).toMatchObject({ type: "order" });
      expect(other.body, JSON.stringify(other.body)).toMatchObject({
        type: "order",
        order: { id: one.body.order.id },
      });
      expect((await ordersOf(cartId)).map(({ id, status }) => [id, status])).toEqual([[one.body.order.id, "pending"]]);
      expect(await shop.balanceCents(card)).toBe(2500);
      expect(await stateOf(cartId)).toEqual(["committed"]);
    }
  });

  test.each(["authorized", "captured"])(
    "complete the same cart by page and webhook (%s): one order, charged once",
    { tags: "long" },
    async (action) => {
      for (const delayMs of [0, 20, 40, 80, 120, 160, 220]) {
        const { card, cartId } = await readyCart();
        const [completed] = await Promise.all([
          sleep(delayMs).then(() => shop.storefront.complete(cartId)),
          tellOf(cartId, action),
        ]);
        // If the payment is in progress, the page retries.
        let { body } = completed;
        const ask = async () => (body = (await shop.storefront.complete(cartId)).body).code;
        if (body.code === "payment_in_progress")
          await expect.poll(ask, { interval: 300 }).not.toBe("payment_in_progress");
        // Both called the bank at once and neither succeeded: the page restarts its payment, as advised.
        if (body.code === "amount_changed") {
          await shop.storefront.initiate(cartId);
          await ask();
        }
        expect(body, `${delayMs}: ${JSON.stringify(body)}`).toMatchObject({ type: "order" });
        const living = async () =>
          (await ordersOf(cartId)).filter(({ status }) => status !== "canceled").map(({ id }) => id);
        await expect.poll(living).toEqual([body.order.id]);
        expect(await shop.balanceCents(card)).toBe(2500);
        expect((await stateOf(cartId)).filter((state) => state === "committed")).toHaveLength(1);
      }
    },
  );

  test("authorize the remainder by webhook while the card's charge fails: no money is held", {
    tags: "long",
  }, async () => {
    const ready = await readyCart();
    const { card, cartId } = ready;
    shop.proxy.set("devalue", "hold", 1);
    const before = shop.proxy.seen.length;
    const call = shop.storefront.complete(cartId);
    const devalued = () => shop.proxy.seen.slice(before).some(({ operation }) => operation === "devalue");
    await expect.poll(devalued).toBe(true);
    await tellOf(cartId, "authorized");
    const payments = async () => {
      const statement = `select payment.id from payment join cart_payment_collection using (payment_collection_id)
        where cart_id = $1 and provider_id = 'pp_bank_bank'`;
      return (await database.query(statement, [cartId])).rowCount;
    };
    await expect.poll(payments).toBe(1);
    await shop.service.command("card", "block", card.cardNumber);
    await shop.proxy.release();
    expect((await call).body).toMatchObject({ code: "card_blocked" });
    await shop.service.command("card", "unblock", card.cardNumber);
    await expectVoided(ready);
    await shop.storefront.initiate(cartId);
    expect((await shop.storefront.complete(cartId)).body.type).toBe("order");
    expect(await shop.balanceCents(card)).toBe(2500);
  });

  test("place one order although Medusa reopens its cart, for the page and for the cards", {
    tags: "long",
  }, async () => {
    const { card, cartId } = await readyCart();
    const { body } = await shop.storefront.complete(cartId);
    const reopen = "update cart set completed_at = null where id = $1";
    await database.query(reopen, [cartId]);
    const refusals = [
      await shop.storefront.send("POST", `/store/giftcard-pay/carts/${cartId}/quote`, card),
      await shop.storefront.initiate(cartId),
    ];
    for (const refusal of refusals) expect(refusal.body).toMatchObject({ code: "cart_completed" });
    for (const { complete } of both()) {
      await database.query(reopen, [cartId]);
      expect((await complete(cartId)).body).toMatchObject({ type: "order", order: { id: body.order.id } });
      const { rows } = await database.query("select completed_at from cart where id = $1", [cartId]);
      expect(rows[0].completed_at, "nobody may change what was ordered").not.toBeNull();
    }
    expect(await ordersOf(cartId)).toMatchObject([{ id: body.order.id, status: "pending" }]);
    expect(await stateOf(cartId)).toEqual(["committed"]);
    expect(await shop.balanceCents(card)).toBe(2500);
  });

  test("leave a closed cart without an order: recovery opens it, so that no page waits forever", {
    tags: "long",
  }, async () => {
    const { card, cartId } = await readyCart();
    await database.query("update cart set completed_at = now() where id = $1", [cartId]);
    await database.query(
      `update payment_session set deleted_at = now() where payment_collection_id =
         (select payment_collection_id from cart_payment_collection where cart_id = $1)`,
      [cartId],
    );
    const { status, body } = await shop.storefront.complete(cartId);
    expect(status).toBe(400);
    expect(body.code).not.toBe("payment_in_progress");
    await shop.passTime(LEASE_MS);
    const isClosed = async () =>
      (await database.query("select 1 from cart where id = $1 and completed_at is not null", [cartId])).rowCount;
    await recovered(isClosed).toBe(0);
    await shop.storefront.initiate(cartId);
    expect((await shop.storefront.complete(cartId)).body).toMatchObject({ type: "order" });
    expect(await shop.balanceCents(card)).toBe(2500);
  });

  test("a removal that races a completion never leaves a charge without an order", { tags: "long" }, async () => {
    for (const wait of [0, 30, 120]) {
      const { card, cartId } = await readyCart();
      const { body } = await shop.storefront.send("GET", `/store/giftcard-pay/carts/${cartId}`);
      const [completed] = await Promise.all([
        shop.storefront.complete(cartId),
        new Promise((resolve) => setTimeout(resolve, wait)).then(() =>
          peer.storefront.send("DELETE", `/store/giftcard-pay/carts/${cartId}/cards/${body.cards[0].id}`),
        ),
      ]);
      const isOrdered = completed.body.type === "order";
      await recovered(() => shop.balanceCents(card)).toBe(isOrdered ? 2500 : 7500);
    }
  });

  test("complete two carts with the same card at once: no cent is charged twice", async () => {
    const { service, storefront } = shop;
    const card = await service.issueCard({ balanceCents: 6000 });
    const carts = [await storefront.createCart(), await storefront.createCart()];
    for (const cartId of carts) {
      await storefront.apply(cartId, card);
      await storefront.initiate(cartId);
    }
    const answers = await Promise.all(both().map((front, index) => front.complete(carts[index] ?? "")));
    // Each wants 50.00 of 60.00: either one gets it, or both learn that the card holds less.
    expect(ordered(answers)).toBeLessThanOrEqual(1);
    await recovered(() => shop.balanceCents(card)).toBe(ordered(answers) === 1 ? 1000 : 6000);
  });
});

test("killed between placing the order and charging the card: the order is canceled, and nothing was charged", {
  tags: "long",
}, async () => {
  const ready = await readyCart();
  await database.query(`create function wait_and_fail() returns trigger language plpgsql as $$
    begin perform pg_sleep(5); raise exception 'never begun'; end $$`);
  await database.query(`create trigger wait_and_fail before update on giftcard_tender for each row
    when (new.state = 'charging' and new.cart_id = '${ready.cartId}') execute function wait_and_fail()`);
  const dying = await shop.startPeer();
  const call = dying.storefront.complete(ready.cartId).catch(() => null);
  await expect.poll(() => ordersOf(ready.cartId), { interval: 100 }).toHaveLength(1);
  await dying.medusa.kill();
  await call;
  await database.query("drop function wait_and_fail cascade");
  await shop.passTime(LEASE_MS);
  await recovered(async () => (await ordersOf(ready.cartId)).map(({ status }) => status)).toEqual(["canceled"]);
  await expectVoided(ready);
  expect(await stateOf(ready.cartId)).toEqual([]);
});
