// @module-tag long
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startShop, type TestPeer, type TestShop } from "./support/shop.js";

/** The age from which recovery releases a payment without an order. */
const LEASE_MS = 30_000;

let folder: string;
let book: string;
let shop: TestShop;
let peer: TestPeer;
let database: pg.Client;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-stray-"));
  book = path.join(folder, "bank.jsonl");
  await writeFile(book, "");
  const env = { TEST_RECOVER_OFTEN: "yes", TEST_BANK_BOOK: book };
  shop = await startShop(env, { timeoutMs: 3000, leaseMs: LEASE_MS });
  peer = await shop.startPeer();
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
  await rm(folder, { recursive: true, force: true });
});

const query = async (statement: string, values: unknown[] = []) => (await database.query(statement, values)).rows;

async function readyCart(data?: Record<string, unknown>) {
  const card = await shop.service.issueCard({ balanceCents: 7500 });
  const cartId = await shop.storefront.createCart();
  await shop.storefront.apply(cartId, card);
  await shop.storefront.initiate(cartId, "pp_bank_bank", data);
  const [session] = await query(
    `select s.id, s.amount::float8 from payment_session s join cart_payment_collection using (payment_collection_id)
     where cart_id = $1 and s.deleted_at is null`,
    [cartId],
  );
  return { card, cartId, session: session as { id: string; amount: number } };
}

/** Sends the bank's webhook for a session to the other process. */
async function tell(session: { id: string; amount: number }, action: string): Promise<void> {
  const response = await fetch(`${peer.medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action, session_id: session.id, amount: session.amount }),
  });
  expect(response.status).toBe(200);
}

/** The bank's actions on a session. */
const deedsOf = ({ id }: { id: string }): string[] =>
  readFileSync(book, "utf8")
    .split("\n")
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line).deed);

/** The bank's payments of a cart, from Medusa's tables. */
const paymentsOf = (cartId: string) =>
  query(
    `select p.id, p.canceled_at is not null as is_canceled,
       (select sum(amount)::float8 from capture where payment_id = p.id and deleted_at is null) as captured,
       (select sum(amount)::float8 from refund where payment_id = p.id and deleted_at is null) as refunded
     from payment p join cart_payment_collection using (payment_collection_id)
     where cart_id = $1 and provider_id = 'pp_bank_bank' and p.deleted_at is null`,
    [cartId],
  );

const jobOf = async (paymentId: string) => {
  const { jobs } = await shop.storefront.ok("GET", "/admin/giftcard-pay/jobs?limit=200");
  return jobs.find(({ id }: { id: string }) => id === paymentId);
};
const decide = (paymentId: string, what: "retry" | "exempt") =>
  shop.storefront.ok("POST", `/admin/giftcard-pay/jobs/release_payment/${paymentId}/${what}`, {});

/** The bank responds to a webhook's completion after that completion was voided. */
async function strayPayment(action: "authorized" | "captured", data: Record<string, unknown> = {}) {
  const ready = await readyCart({ behaviour: "slow", ...data });
  const { card, cartId, session } = ready;
  shop.proxy.set("devalue", "hold", 1);
  const before = shop.proxy.seen.length;
  const call = shop.storefront.complete(cartId);
  const devalued = () => shop.proxy.seen.slice(before).some(({ operation }) => operation === "devalue");
  await expect.poll(devalued).toBe(true);
  const asked = () => peer.medusa.logs().split("the bank takes its time").length;
  const askedBefore = asked();
  await tell(session, action);
  await expect.poll(asked).toBe(askedBefore + 1);
  await shop.service.command("card", "block", card.cardNumber);
  await shop.proxy.release();
  expect((await call).body).toMatchObject({ code: "card_blocked" });
  shop.proxy.clear();
  const captured = action === "captured" ? session.amount : null;
  await expect.poll(() => paymentsOf(cartId)).toMatchObject([{ is_canceled: false, captured, refunded: null }]);
  await shop.service.command("card", "unblock", card.cardNumber);
  const [payment] = await paymentsOf(cartId);
  return { ...ready, paymentId: payment.id as string };
}

/** Pays the cart again, as a page does. */
async function payAnew({ card, cartId }: Awaited<ReturnType<typeof readyCart>>): Promise<void> {
  await shop.storefront.initiate(cartId);
  expect((await shop.storefront.complete(cartId)).body).toMatchObject({ type: "order" });
  expect(await shop.balanceCents(card)).toBe(2500);
}

test("an authorized payment is canceled, and the cart can be paid again", async () => {
  const stray = await strayPayment("authorized");
  // Until then the next attempt uses the payment, so the cart must not change.
  const { body } = await shop.storefront.send("GET", `/store/giftcard-pay/carts/${stray.cartId}`);
  const card = `/store/giftcard-pay/carts/${stray.cartId}/cards/${body.cards[0].id}`;
  const changes = [await shop.storefront.send("DELETE", card), await shop.storefront.initiate(stray.cartId)];
  for (const { body } of changes) expect(body).toMatchObject({ code: "payment_in_progress" });
  await shop.passTime(LEASE_MS);
  await expect.poll(() => paymentsOf(stray.cartId), { interval: 300 }).toMatchObject([{ is_canceled: true }]);
  expect(deedsOf(stray.session).slice(-2)).toEqual(["authorize", "cancel"]);
  await payAnew(stray);
});

test("a captured payment is refunded once, even if no charge of its cart ever began", async () => {
  const stray = await strayPayment("captured");
  await query("delete from giftcard_charge where cart_id = $1", [stray.cartId]);
  await shop.passTime(LEASE_MS);
  await expect
    .poll(() => paymentsOf(stray.cartId), { interval: 300 })
    .toMatchObject([{ refunded: stray.session.amount }]);
  await expect.poll(() => query("select from giftcard_release")).toEqual([]);
  expect(deedsOf(stray.session).filter((deed) => deed === "refund")).toHaveLength(1);
  await payAnew(stray);
});

test("a partly captured payment is refunded for that part, and the rest is canceled", async () => {
  const stray = await strayPayment("authorized");
  await shop.storefront.ok("POST", `/admin/payments/${stray.paymentId}/capture`, { amount: 10 });
  await shop.passTime(LEASE_MS);
  await expect.poll(async () => (await paymentsOf(stray.cartId))[0]?.refunded, { interval: 300 }).toBe(10);
  // This bank can't cancel a partly captured payment: the job stays for a person and is retried in each run.
  await expect.poll(() => jobOf(stray.paymentId), { interval: 300 }).toBeDefined();
  const left = await query("select from giftcard_release where payment_id = $1", [stray.paymentId]);
  expect(left).toHaveLength(1);
  await decide(stray.paymentId, "exempt");
  expect(await jobOf(stray.paymentId)).toBeUndefined();
});

test("a refund without a response is made once, is listed, and pays no order", async () => {
  const stray = await strayPayment("captured", { refunding: "loses its answer" });
  await shop.passTime(LEASE_MS);
  await expect.poll(() => jobOf(stray.paymentId), { interval: 300 }).toBeDefined();
  const lastError = expect.stringContaining("nobody knows whether it was made");
  await expect.poll(() => jobOf(stray.paymentId), { interval: 300 }).toMatchObject({ lastError });
  expect(deedsOf(stray.session).filter((deed) => deed === "refund")).toHaveLength(1);
  expect((await shop.storefront.complete(stray.cartId)).body).toMatchObject({ code: "amount_changed" });
  await payAnew(stray);
  // The order lacks it, so it stays listed until a person has checked.
  await expect.poll(() => jobOf(stray.paymentId), { interval: 300 }).toMatchObject({ lastError });
  await decide(stray.paymentId, "exempt");
  for (let run = 0; run < 2; run += 1) await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  expect(await jobOf(stray.paymentId)).toBeUndefined();
  expect(deedsOf(stray.session).filter((deed) => deed === "refund")).toHaveLength(1);
});

test("a refund that a crash interrupts is listed, also in a shop with a long history", async () => {
  const stray = await strayPayment("captured", { refunding: "hangs" });
  const { cartId, paymentId, session } = stray;
  const isAsked = (logs: string) => logs.includes(`asked to refund ${session.id}`);
  await shop.passTime(LEASE_MS);
  await expect.poll(() => [shop.medusa.logs(), peer.medusa.logs()].some(isAsked), { interval: 50 }).toBe(true);
  if (isAsked(shop.medusa.logs())) {
    await shop.crash();
    await shop.restart();
  } else {
    await peer.medusa.kill();
    peer = await shop.startPeer();
  }
  // Medusa lists it as refunded, but the bank never completed the refund.
  expect(await paymentsOf(cartId)).toMatchObject([{ refunded: session.amount }]);
  expect(deedsOf(session)).not.toContain("refund");
  await shop.passTime(LEASE_MS);
  await query("update giftcard_charge set updated_at = now() - interval '3 days'");
  await query(
    `insert into giftcard_charge select (jsonb_populate_record(c, jsonb_build_object('reference', 'zz' || lpad(i::text, 6, '0'),
       'external_id', 'zz' || i, 'cart_id', 'cart_old' || i))).*
     from giftcard_charge c, generate_series(1, 5000) i
     where c.reference = (select min(reference) from giftcard_charge where cart_id = $1)`,
    [cartId],
  );
  const lastError = expect.stringContaining("nobody knows whether it was made");
  await expect.poll(() => jobOf(paymentId), { interval: 300 }).toMatchObject({ lastError });
  const { tries } = await jobOf(paymentId);
  await expect.poll(async () => (await jobOf(paymentId))?.tries, { interval: 300 }).toBeGreaterThan(tries + 3);
  // A person checked at the bank and refunded the money there.
  expect((await decide(paymentId, "retry")).job).toBeNull();
  expect(await jobOf(paymentId)).toBeUndefined();
  await query("delete from giftcard_charge where reference like 'zz%'");
});

test("a payment that recovery is canceling pays no order, even if recovery stalls", async () => {
  const stray = await strayPayment("authorized", { canceling: "slow" });
  const isAsked = (logs: string) => logs.includes(`asked to cancel ${stray.session.id}`);
  await shop.passTime(LEASE_MS);
  await expect.poll(() => [shop.medusa.logs(), peer.medusa.logs()].some(isAsked), { interval: 50 }).toBe(true);
  const [frozen, living] = isAsked(shop.medusa.logs()) ? [shop, peer] : [peer, shop];
  process.kill(frozen.medusa.pid, "SIGSTOP");
  try {
    await shop.passTime(LEASE_MS);
    const answer = await living.storefront.complete(stray.cartId);
    expect(answer.body).toMatchObject({ code: "amount_changed" });
  } finally {
    process.kill(frozen.medusa.pid, "SIGCONT");
  }
  await expect.poll(() => paymentsOf(stray.cartId), { interval: 300 }).toMatchObject([{ is_canceled: true }]);
  await payAnew(stray);
});

test("a payment stays with the order, with its session, if recovery and the order race", async () => {
  const stray = await strayPayment("authorized");
  // A completion places its order while recovery deletes the session.
  await query(`create function order_it() returns trigger language plpgsql as $$ begin
    insert into order_cart (id, order_id, cart_id) values ('ordercart_late', 'order_late', '${stray.cartId}')
      on conflict do nothing;
    return new; end $$`);
  await query(`create trigger order_it before update on payment_session for each row
    when (new.id = '${stray.session.id}' and old.deleted_at is null and new.deleted_at is not null) execute function order_it()`);
  try {
    await shop.passTime(LEASE_MS);
    await expect.poll(() => query("select from order_cart where id = 'ordercart_late'")).toHaveLength(1);
    await expect.poll(() => query("select from giftcard_release where cart_id = $1", [stray.cartId])).toEqual([]);
    expect(await query("select deleted_at from payment_session where id = $1", [stray.session.id])).toEqual([
      { deleted_at: null },
    ]);
    expect(await paymentsOf(stray.cartId)).toMatchObject([{ is_canceled: false }]);
    expect(deedsOf(stray.session)).not.toContain("cancel");
  } finally {
    await query("drop function order_it cascade");
    await query("delete from order_cart where id = 'ordercart_late'");
  }
});

test("a payment stays with the order if a process crashed after taking its session", async () => {
  const { cartId, paymentId, session } = await strayPayment("authorized");
  // The state after such a crash: an order, its session deleted, and its payment recorded for release.
  await query("insert into order_cart (id, order_id, cart_id) values ('ordercart_died', 'order_died', $1)", [cartId]);
  try {
    await query("update payment_session set deleted_at = now() where id = $1", [session.id]);
    await query("insert into giftcard_release (payment_id, cart_id) values ($1, $2)", [paymentId, cartId]);
    await expect
      .poll(() => query("select from giftcard_release where payment_id = $1", [paymentId]), { interval: 300 })
      .toEqual([]);
    expect(await query("select deleted_at from payment_session where id = $1", [session.id])).toEqual([
      { deleted_at: null },
    ]);
    expect(await paymentsOf(cartId)).toMatchObject([{ is_canceled: false }]);
    expect(deedsOf(session)).not.toContain("cancel");
  } finally {
    await query("delete from order_cart where id = 'ordercart_died'");
  }
});

test("a voided completion leaves no payment for the next order if the bank's response to its cancel is lost", async () => {
  const ready = await readyCart({ canceling: "loses its answer" });
  shop.proxy.set("devalue", "hold", 1);
  const before = shop.proxy.seen.length;
  const call = shop.storefront.complete(ready.cartId);
  const devalued = () => shop.proxy.seen.slice(before).some(({ operation }) => operation === "devalue");
  await expect.poll(devalued).toBe(true);
  await tell(ready.session, "authorized");
  await expect.poll(() => paymentsOf(ready.cartId)).toHaveLength(1);
  await shop.service.command("card", "block", ready.card.cardNumber);
  await shop.proxy.release();
  expect((await call).body).toMatchObject({ code: "card_blocked" });
  shop.proxy.clear();
  await shop.service.command("card", "unblock", ready.card.cardNumber);
  expect((await shop.storefront.complete(ready.cartId)).body).toMatchObject({ code: "amount_changed" });
  await payAnew(ready);
});

test("a webhook of a deleted session completes no cart", async () => {
  const other = await readyCart();
  const mine = await readyCart();
  await shop.storefront.initiate(mine.cartId);
  // Medusa would use the first link it finds.
  await query("delete from cart_payment_collection where cart_id not in ($1, $2)", [other.cartId, mine.cartId]);
  await tell(mine.session, "authorized");
  await expect.poll(() => peer.medusa.logs()).toContain(`for the deleted payment session ${mine.session.id}`);
  for (const ready of [mine, other]) await payAnew(ready);
});

test("an unrelated table named locking is reported and does not stop recovery", async () => {
  const stray = await strayPayment("authorized");
  await query("create table locking (id text primary key)");
  try {
    await shop.passTime(LEASE_MS);
    await expect.poll(() => paymentsOf(stray.cartId), { interval: 300 }).toMatchObject([{ is_canceled: true }]);
    await expect.poll(() => jobOf("locks"), { interval: 300 }).toMatchObject({ kind: "scan" });
  } finally {
    await query("drop table locking");
  }
  await expect.poll(() => jobOf("locks"), { interval: 300 }).toBeUndefined();
});
