import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop, type TestPeer } from "./support/shop.js";

/** The age from which recovery takes over unfinished work. */
const LEASE_MS = 120_000;

let shop: SharedShop;
let peer: TestPeer;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("whole");
  peer = await shop.peer();
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  await database.query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'the disk is full'; end $$`);
});
afterEach(async () => {
  await heal();
  shop.proxy.clear();
});
afterAll(async () => {
  await database?.query("drop function refuse()");
  await database?.end();
});

let broken: string[] = [];
/** Blocks writes of these rows, so that Medusa crashes or fails at exactly this step. */
async function breakWrites(table: string, event: string, when: string): Promise<void> {
  await database.query(
    `create trigger refuse_${broken.length} before ${event} on ${table} for each row when (${when}) execute function refuse()`,
  );
  broken.push(table);
}
async function heal(): Promise<void> {
  for (const [index, table] of broken.entries()) await database.query(`drop trigger refuse_${index} on ${table}`);
  broken = [];
}

/** Counts the statements that our trigger keeps waiting. */
const sleepers = async () => {
  const sleeping = "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
  return (await database.query(sleeping)).rowCount;
};

const recover = (storefront = shop.storefront) => storefront.ok("POST", "/admin/giftcard-pay/recover", {});
/** Runs recovery in both processes at once, then again: nothing may happen twice. */
async function recoverAtOnce(): Promise<void> {
  await shop.passTime(LEASE_MS);
  await Promise.all([recover(), recover(peer.storefront)]);
  await recover();
}
const reversals = () => shop.proxy.seen.filter(({ operation }) => operation === "canceldevalue").length;

/** An order for 74.98: 50.00 by a card of 75.00, the rest by the bank. */
async function buy() {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  expect(body.type).toBe("order");
  const orderId = body.order.id as string;
  const { gifts, others } = paymentsOf(await storefront.order(orderId));
  const { rows } = await database.query("select reference from giftcard_charge where order_id = $1", [orderId]);
  const ids = { giftId: gifts[0].id as string, otherId: others[0].id as string };
  return { card, orderId, reference: rows[0].reference as string, ...ids };
}
type Bought = Awaited<ReturnType<typeof buy>>;

const capture = (paymentId: string) => shop.storefront.send("POST", `/admin/payments/${paymentId}/capture`, {});
const refund = (paymentId: string, amount: number) =>
  shop.storefront.send("POST", `/admin/payments/${paymentId}/refund`, { amount });

async function look({ orderId, reference }: Pick<Bought, "orderId" | "reference">) {
  const order = await shop.storefront.order(orderId);
  const { rows } = await database.query("select state from giftcard_charge where reference = $1", [reference]);
  const [gift] = paymentsOf(order).gifts;
  const booked = order.transactions.filter((t: { reference_id: string }) =>
    [gift, ...gift.captures, ...gift.refunds].some(({ id }: { id: string }) => id === t.reference_id),
  );
  return {
    state: rows[0].state as string,
    order,
    gift,
    figures: figuresOf(order),
    booked: booked.map(({ reference: kind, amount }: { reference: string; amount: number }) => [kind, amount]),
  };
}

describe("an order canceled in Medusa while the card's reversal could not be recorded", () => {
  async function cancel(bought: Bought) {
    await breakWrites("giftcard_charge", "update", `old.reference = '${bought.reference}'`);
    await shop.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    await heal();
    expect(await shop.balanceCents(bought.card)).toBe(2500);
    expect((await look(bought)).order.status).toBe("canceled");
  }

  test("before capture: recovery cancels the payment and reverses the charge once", async () => {
    const bought = await buy();
    await cancel(bought);
    const before = reversals();
    await recoverAtOnce();
    expect(await shop.balanceCents(bought.card)).toBe(7500);
    expect(reversals() - before).toBe(1);
    const { state, gift } = await look(bought);
    expect(state).toBe("reversed");
    expect(gift.canceled_at).toBeTruthy();
  });

  test("after capture: recovery refunds the payment and reverses the charge once", { tags: "long" }, async () => {
    const bought = await buy();
    for (const id of [bought.giftId, bought.otherId]) expect((await capture(id)).status).toBe(200);
    await cancel(bought);
    const before = reversals();
    await recoverAtOnce();
    await recoverAtOnce();
    expect(await shop.balanceCents(bought.card)).toBe(7500);
    expect(reversals() - before).toBe(1);
    const { state, gift, booked } = await look(bought);
    expect(state).toBe("reversed");
    expect(gift.refunds.map(({ amount }: { amount: number }) => amount)).toEqual([50]);
    expect(booked).toEqual([
      ["capture", 50],
      ["refund", -50],
    ]);
  });

  test("with the service down: the reversal is pending and runs when the service is back", {
    tags: "long",
  }, async () => {
    const bought = await buy();
    await cancel(bought);
    shop.proxy.set("canceldevalue", "cut-before");
    await recoverAtOnce();
    expect((await look(bought)).state).toBe("reversing");
    shop.proxy.clear();
    await expect.poll(() => recover().then(() => shop.balanceCents(bought.card)), { interval: 1000 }).toBe(7500);
    expect((await look(bought)).state).toBe("reversed");
  });
});

test("recovery cancels the payment in Medusa if it could not be written during the cancel", {
  tags: "long",
}, async () => {
  const bought = await buy();
  await breakWrites("payment", "update", `old.id = '${bought.giftId}'`);
  await shop.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
  await heal();
  expect(await shop.balanceCents(bought.card)).toBe(7500);
  expect(await look(bought)).toMatchObject({ state: "reversed", gift: { canceled_at: null } });
  const before = reversals();
  await recoverAtOnce();
  expect((await look(bought)).gift.canceled_at).toBeTruthy();
  expect(reversals()).toBe(before);
  expect(await shop.balanceCents(bought.card)).toBe(7500);
});

test("no charge begins if the card's session can't be written; the next attempt pays", { tags: "long" }, async () => {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const devalues = () => shop.proxy.seen.filter(({ operation }) => operation === "devalue").length;
  const before = devalues();
  await breakWrites("payment_session", "insert", "new.provider_id = 'pp_giftcard_giftcard'");
  expect((await storefront.complete(cartId)).body.type).not.toBe("order");
  await heal();
  expect(devalues()).toBe(before);
  const states = async () =>
    (await database.query("select state from giftcard_charge where cart_id = $1 order by state", [cartId])).rows;
  expect(await states()).toEqual([]);
  expect((await storefront.complete(cartId)).body.type).toBe("order");
  expect(devalues()).toBe(before + 1);
  expect(await states()).toEqual([{ state: "committed" }]);
  expect(await shop.balanceCents(card)).toBe(2500);
});

describe("an order canceled while the bank's payment can't be closed", () => {
  const paymentOf = async ({ orderId, otherId }: Bought) =>
    paymentsOf(await shop.storefront.order(orderId)).others.find(({ id }: { id: string }) => id === otherId);
  const jobOf = async ({ otherId }: Bought) => {
    const { jobs } = await shop.storefront.ok("GET", "/admin/giftcard-pay/jobs?limit=200");
    return jobs.find(({ id }: { id: string }) => id === otherId);
  };

  test("before capture: recovery cancels it without alerting anyone", { tags: "long" }, async () => {
    const bought = await buy();
    await breakWrites("payment", "update", `old.id = '${bought.otherId}'`);
    await shop.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    await heal();
    expect((await paymentOf(bought)).canceled_at).toBeNull();
    await recoverAtOnce();
    expect((await paymentOf(bought)).canceled_at).toBeTruthy();
    expect(await jobOf(bought)).toBeUndefined();
  });

  test("after capture: a person is alerted, and only their decision refunds it, once", async () => {
    const bought = await buy();
    for (const id of [bought.giftId, bought.otherId]) expect((await capture(id)).status).toBe(200);
    await breakWrites("refund", "insert", `new.payment_id = '${bought.otherId}'`);
    await shop.storefront.send("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    await heal();
    expect((await look(bought)).order.status).toBe("canceled");
    await recoverAtOnce();
    expect((await paymentOf(bought)).refunds).toEqual([]);
    expect(await jobOf(bought)).toMatchObject({ kind: "release_payment", orderId: bought.orderId });
    const retry = `/admin/giftcard-pay/jobs/release_payment/${bought.otherId}/retry`;
    await shop.storefront.ok("POST", retry, {});
    await recoverAtOnce();
    expect((await paymentOf(bought)).refunds).toMatchObject([{ amount: 24.98 }]);
    expect(await jobOf(bought)).toBeUndefined();
  });
});

describe("a capture that Medusa began and did not finish", () => {
  test("before the charge was captured: recovery captures it and records it on the order once", {
    tags: "long",
  }, async () => {
    const bought = await buy();
    // The capture's row exists, as after a crash before Medusa called the provider.
    await database.query(
      `insert into capture (id, amount, raw_amount, payment_id) values ($1, 50, '{"value": "50", "precision": 20}', $2)`,
      [`capt_${bought.reference}`, bought.giftId],
    );
    await recover();
    expect((await look(bought)).state, "it may be under way").toBe("committed");
    await recoverAtOnce();
    const { state, gift, figures, booked } = await look(bought);
    expect(state).toBe("captured");
    expect(gift.captures).toHaveLength(1);
    expect(booked).toEqual([["capture", 50]]);
    expect(figures).toMatchObject({ paid: 50, outstanding: 24.98 });
    expect(await shop.balanceCents(bought.card)).toBe(2500);
  });

  test("before it was recorded on the order: recovery records it once", { tags: "long" }, async () => {
    const bought = await buy();
    await breakWrites("order_transaction", "insert", `new.order_id = '${bought.orderId}'`);
    expect((await capture(bought.giftId)).status).not.toBe(200);
    await heal();
    await recoverAtOnce();
    const { state, gift, booked, figures } = await look(bought);
    expect(state).toBe("captured");
    expect(gift.captures).toHaveLength(1);
    expect(booked).toEqual([["capture", 50]]);
    expect(figures).toMatchObject({ paid: 50, outstanding: 24.98 });
  });
});

test("an order canceled after capture shows each refund once, whichever process looks at it later", {
  tags: "long",
}, async () => {
  const bought = await buy();
  for (const id of [bought.giftId, bought.otherId]) expect((await capture(id)).status).toBe(200);
  await shop.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
  await recoverAtOnce();
  await recoverAtOnce();
  const { booked, figures } = await look(bought);
  expect(booked).toEqual([
    ["capture", 50],
    ["refund", -50],
  ]);
  expect(figures).toMatchObject({ paid: 74.98, refunded: 74.98, outstanding: 0 });
  expect(await shop.balanceCents(bought.card)).toBe(7500);
});

describe("a refund that Medusa began and did not finish", () => {
  async function paid() {
    const bought = await buy();
    for (const id of [bought.giftId, bought.otherId]) expect((await capture(id)).status).toBe(200);
    return bought;
  }
  /** Inserts the refund's row, as after a crash before Medusa called the provider. */
  const begin = (bought: Bought) =>
    database.query(
      `insert into refund (id, amount, raw_amount, payment_id) values ($1, 50, '{"value": "50", "precision": 20}', $2)`,
      [`ref_${bought.reference}`, bought.giftId],
    );
  const both = [
    ["capture", 50],
    ["refund", -50],
  ];

  test("before the charge was reversed: recovery reverses it and records it on the order once", async () => {
    const bought = await paid();
    await begin(bought);
    const before = reversals();
    await recoverAtOnce();
    expect(await shop.balanceCents(bought.card)).toBe(7500);
    expect(reversals() - before).toBe(1);
    expect(await look(bought)).toMatchObject({ state: "reversed", booked: both, figures: { refunded: 50 } });
  });

  test("found by one process while another records it: recorded once", { tags: "long" }, async () => {
    const bought = await paid();
    await begin(bought);
    await shop.passTime(LEASE_MS);
    await database.query(`create function write_slowly() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.7); return new; end $$`);
    await database.query(`create trigger write_slowly before insert on order_transaction for each row
      when (new.order_id = '${bought.orderId}') execute function write_slowly()`);
    const first = recover();
    await expect.poll(sleepers, { interval: 20 }).toBe(1);
    await Promise.all([first, recover(peer.storefront)]);
    await database.query("drop function write_slowly cascade");
    expect(await look(bought)).toMatchObject({ state: "reversed", booked: both, figures: { refunded: 50 } });
  });

  test("with the service down: recorded on the order at once, and reversed when the service is back", {
    tags: "long",
  }, async () => {
    const bought = await paid();
    await begin(bought);
    shop.proxy.set("canceldevalue", "cut-before");
    await recoverAtOnce();
    expect(await look(bought)).toMatchObject({ state: "reversing", booked: both });
    shop.proxy.clear();
    const state = async () => {
      await recover();
      return (await look(bought)).state;
    };
    await expect.poll(state, { interval: 1000 }).toBe("reversed");
    expect(await look(bought)).toMatchObject({ booked: both, figures: { refunded: 50 } });
    expect(await shop.balanceCents(bought.card)).toBe(7500);
  });

  test("before it was recorded on the order: recovery records it once", async () => {
    const bought = await paid();
    await breakWrites("order_transaction", "insert", `new.order_id = '${bought.orderId}'`);
    await refund(bought.giftId, 50);
    await heal();
    await recoverAtOnce();
    expect(await shop.balanceCents(bought.card)).toBe(7500);
    expect(await look(bought)).toMatchObject({ state: "reversed", booked: both, figures: { refunded: 50 } });
  });
});

describe("an unpaid order that Medusa fails to cancel", () => {
  const open = async (orderId: string) => {
    const { jobs } = await shop.storefront.ok("GET", "/admin/giftcard-pay/jobs?limit=200");
    return jobs.filter((job: { orderId: string }) => job.orderId === orderId);
  };
  const said = (orderId: string) =>
    (shop.medusa.logs() + peer.medusa.logs()).match(new RegExp(`job=cancel_order id=${orderId} .*is fulfilled`, "g"));

  /** An order that crashed before its card was charged, and was fulfilled anyway. */
  async function fulfilled() {
    const { storefront, service } = shop;
    const card = await service.issueCard({ balanceCents: 7500 });
    const cartId = await storefront.createCart();
    await storefront.apply(cartId, card);
    await storefront.initiate(cartId);
    await database.query(`create function never() returns trigger language plpgsql as $$
      begin perform pg_sleep(5); raise exception 'never begun'; end $$`);
    await database.query(`create trigger never before update on giftcard_tender for each row
      when (new.state = 'charging' and new.cart_id = '${cartId}') execute function never()`);
    const dying = await shop.startPeer();
    const call = dying.storefront.complete(cartId).catch(() => null);
    const placed = async () => {
      const { rows } = await database.query("select order_id from order_cart where cart_id = $1", [cartId]);
      return rows[0]?.order_id;
    };
    await expect.poll(sleepers, { interval: 100 }).toBe(1);
    // Prevents recovery from canceling the order before it is fulfilled, even on a slow machine.
    await breakWrites("giftcard_unpaid_order", "insert", "true");
    await dying.medusa.kill();
    await call;
    await database.query("drop function never cascade");
    const orderId = (await placed()) as string;
    const { order } = await peer.storefront.ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
    const { stock_locations } = await peer.storefront.ok("GET", "/admin/stock-locations");
    await peer.storefront.ok("POST", `/admin/orders/${orderId}/fulfillments`, {
      items: [{ id: order.items[0].id, quantity: 1 }],
      location_id: stock_locations[0].id,
    });
    await heal();
    await recoverAtOnce();
    return { card, orderId };
  }

  test("waits for a person, is announced once, and is canceled once nothing prevents it", {
    tags: "long",
  }, async () => {
    const { card, orderId } = await fulfilled();
    await recoverAtOnce();
    await recover();
    expect(await open(orderId)).toMatchObject([
      {
        orderId,
        orderName: expect.stringMatching(/^#\d+$/),
        why: [{ code: "fulfilled" }],
      },
    ]);
    expect(said(orderId)).toHaveLength(1);
    expect(await shop.balanceCents(card)).toBe(7500);
    const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=id,fulfillments.id`);
    await shop.storefront.ok("POST", `/admin/orders/${orderId}/fulfillments/${order.fulfillments[0].id}/cancel`, {});
    await recover();
    expect((await shop.storefront.order(orderId)).status).toBe("canceled");
    expect(await open(orderId)).toEqual([]);
  });

  test("stays if a person decides so, and the decision is recorded", { tags: "long" }, async () => {
    const { orderId } = await fulfilled();
    const exempt = `/admin/giftcard-pay/jobs/cancel_order/${orderId}/exempt`;
    await shop.storefront.ok("POST", exempt, {});
    expect(await open(orderId)).toEqual([]);
    await recoverAtOnce();
    expect((await shop.storefront.order(orderId)).status).toBe("pending");
    const { rows } = await database.query("select exempted_by from giftcard_job where id = $1", [orderId]);
    expect(rows[0].exempted_by).toContain(shop.medusa.admin.email);
    const again = await shop.storefront.send("POST", exempt, {});
    expect(again).toMatchObject({ status: 400, body: { code: "not_open" } });
  });

  test("is no longer listed once its payment is recorded", { tags: "long" }, async () => {
    const { orderId } = await fulfilled();
    const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=id,*payment_collections`);
    const [collection] = order.payment_collections;
    await shop.storefront.ok("POST", `/admin/payment-collections/${collection.id}/mark-as-paid`, {
      order_id: orderId,
    });
    await recover();
    expect(await open(orderId)).toEqual([]);
    expect((await shop.storefront.order(orderId)).status).toBe("pending");
  });
});
