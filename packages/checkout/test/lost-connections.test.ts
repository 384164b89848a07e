import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DatabaseProxy, startDatabaseProxy } from "../../../test/support/database-proxy.js";
import { testDatabase } from "../../../test/support/test-database.js";
import {
  type CartView,
  type CheckoutOptions,
  createCheckout,
  createHandler,
  createPostgresStore,
} from "../src/index.js";
import type { PgPool } from "../src/store/index.js";
import { Bank } from "./bank.js";
import { newCart, type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";
import { tickets } from "./tickets.js";

let shop: Shop;
let proxy: DatabaseProxy;
let direct: pg.Pool;
/** The shop's own pool, whose connections the proxy cuts. */
let pool: pg.Pool;
let store: ReturnType<typeof createPostgresStore>;
let bank: Bank;
let card: TestCard;
beforeAll(async () => {
  shop = await startShop();
  const databaseUrl = await testDatabase();
  proxy = await startDatabaseProxy(databaseUrl);
  direct = new pg.Pool({ connectionString: databaseUrl });
  pool = new pg.Pool({ connectionString: proxy.url, max: 1, application_name: "shop" });
  for (const each of [direct, pool]) each.on("error", () => {});
  store = createPostgresStore({ pool, schema: "gift_cards" });
  await store.migrate();
});
beforeEach(async () => {
  proxy.clear();
  bank = new Bank();
  card = await shop.card(7500);
});
afterAll(async () => {
  await pool.end();
  await direct.end();
  await proxy.stop();
  await shop.stop();
});

const lost = expect.objectContaining({ name: "StoreError", code: "connection_lost" });

/** Starts a process of the shop, and keeps what it announces and reports. */
function start(options: Partial<CheckoutOptions> = {}) {
  const announced: string[] = [];
  const failures: unknown[] = [];
  const checkout = createCheckout({
    issuer: shop.client,
    environment: "sandbox",
    store,
    sealingKeys,
    remainder: bank.method,
    onTender: ({ event }) => announced.push(event),
    onChange: ({ state }) => announced.push(state),
    onPurchase: ({ state }) => announced.push(state),
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  return { checkout, announced, failures };
}
type Started = ReturnType<typeof start>;

/** Buys two tickets by card and bank, returns one, and cancels the order. */
async function buyAndReturn({ checkout }: Started) {
  const cart = newCart(7498);
  const order = { id: `order_${randomUUID()}`, cart, lines: tickets };
  const [quoted] = (await checkout.apply(cart, card)).cards;
  await checkout.remove(cart, quoted?.id ?? "");
  const { plan } = await checkout.apply(cart, card);
  const paid = await checkout.pay({ ...order, plan });
  await checkout.assertPaid(order.id, cents(7498));
  const { refund } = await checkout.refund(order.id, { id: "return", lines: { ticket: 1 } });
  const held = [7500 - (await card.balanceCents()), bank.heldCents];
  const canceled = await checkout.cancel(order.id);
  return { paid: paid.status, refunded: [refund.amountCents, refund.isDone], held, state: canceled.state };
}

/** Orders at the bank's page, changes the cart, orders anew, and lets a second process confirm and recover. */
async function orderTwice({ checkout }: Started) {
  const cart = newCart(7498);
  const id = `order_${randomUUID()}`;
  bank.mood = "page";
  const { plan } = await checkout.apply(cart, card);
  const first = await checkout.pay({ id, cart, plan });
  const larger: CartView = { ...cart, totalCents: cents(8000) };
  const payShown = async () => checkout.pay({ id, cart: larger, plan: (await checkout.list(larger)).plan });
  await payShown().catch(() => {});
  const second = await payShown();
  bank.pay();
  await checkout.recover();
  const confirmed = await checkout.confirm(id);
  await checkout.assertPaid(id, cents(8000));
  const canceled = await checkout.cancel(id);
  return {
    ends: [first.status, second.status, confirmed.status],
    state: canceled.state,
  };
}

const stories = { buyAndReturn, orderTwice };

/** Every n-th statement is cut: few for each day, all in the long form. */
const distances = { "every seventeenth": 17, every: 1 };

describe("a database connection that is cut once", () => {
  for (const [which, distance] of Object.entries(distances))
    for (const [title, story] of Object.entries(stories))
      for (const fault of ["cut-before", "cut-after"] as const)
        it(`changes no result and no announcement, at ${which} statement of ${title} (${fault})`, {
          tags: distance === 1 ? "long" : [],
          timeout: 120_000,
        }, async () => {
          const undisturbed = start();
          const expected = await story(undisturbed);
          let cuts = 0;
          for (let skip = 0; ; skip += distance) {
            bank = new Bank();
            card = await shop.card(7500);
            proxy.clear();
            proxy.set({ pattern: /gift_cards/, fault, skip });
            const process = start();
            const outcome = await story(process);
            if (proxy.hits === 0) break;
            cuts += 1;
            expect(outcome, `statement ${skip}`).toEqual(expected);
            expect(process.announced, `statement ${skip}`).toEqual(undisturbed.announced);
            expect(process.failures, `statement ${skip}`).toEqual([]);
            expect([await card.balanceCents(), bank.heldCents]).toEqual([7500, 0]);
          }
          expect(cuts).toBeGreaterThan(40 / distance);
        });

  it("records a person's decision once", async () => {
    const { checkout } = start();
    const cart = newCart(4000);
    const { plan } = await checkout.apply(cart, card);
    await checkout.pay({ id: `order_${randomUUID()}`, cart, plan });
    const [charge] = await store.journal.chargesOfCart(cart.id);
    const reference = charge?.reference ?? "";
    await direct.query("update gift_cards.giftcard_charge set state = 'needs_attention' where reference = $1", [
      reference,
    ]);
    proxy.set({ pattern: /giftcard_action/, fault: "cut-after" });
    expect(await checkout.operator.markTaken(reference, "ada")).toMatchObject({ state: "taken" });
    expect(proxy.hits).toBe(1);
    expect((await checkout.operator.evidence(reference))?.actions).toMatchObject([
      { action: "mark_taken", actor: "ada" },
    ]);
    expect(await checkout.operator.markTaken(reference, "grace")).toBeNull();
  });

  it("uncounts a guess at most once", async () => {
    const { checkout } = start();
    const cart = newCart(4000);
    const guess = () => checkout.quote(cart, card);
    const counted = async () => {
      const key = `cart:${cart.id}`;
      const { rows } = await direct.query("select count from gift_cards.giftcard_guess where key = $1", [key]);
      return rows[0]?.count;
    };
    const wrong = () => checkout.quote(cart, { ...card, pin: "0000" });
    await expect(wrong()).rejects.toMatchObject({ code: "invalid_card" });
    for (const fault of ["cut-after", "cut-before"] as const) {
      proxy.set({ pattern: /set count = count - 1/, fault });
      await guess();
    }
    expect(proxy.hits).toBe(2);
    // The wrong guess, and the one whose correction never arrived.
    expect(await counted()).toBe(2);
  });
});

it("a statement whose connection the database ends is retried", async () => {
  const { checkout } = start();
  const cart = newCart(4000);
  const blocker = await direct.connect();
  try {
    await blocker.query("begin; lock table gift_cards.giftcard_tender");
    const applied = checkout.apply(cart, card);
    const blocked = "application_name = 'shop' and wait_event_type = 'Lock'";
    await expect
      .poll(
        async () =>
          (await direct.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${blocked}`)).rowCount,
      )
      .toBe(1);
    await blocker.query("rollback");
    expect(await applied).toMatchObject({ remainderCents: 0 });
  } finally {
    blocker.release();
  }
});

describe("a database that stays away", () => {
  const cutAll = () => proxy.set({ pattern: /gift_cards/, fault: "cut-before", times: 1000 });

  it("has a call retried three times, and then throws connection_lost without the driver's text", async () => {
    const { checkout } = start();
    cutAll();
    const error: unknown = await checkout.list(newCart(4000)).catch((thrown: unknown) => thrown);
    expect(error).toEqual(lost);
    expect(String(error)).toMatch(/Repeat the call later/);
    expect(proxy.hits).toBe(4);
  });

  it("answers a page with 503, and reports the failure", async () => {
    const failures: unknown[] = [];
    const cart = newCart(4000);
    const handle = createHandler(start().checkout, { cartOf: () => cart, onFailure: (error) => failures.push(error) });
    cutAll();
    const answer = await handle(new Request(`https://shop.example/giftcards/carts/${cart.id}`));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      code: "service_unavailable",
      message: "The shop's database can't be reached now. Try again later.",
    });
    expect(failures).toEqual([lost]);
  });

  it("takes nothing of a payment that can't be stored, and the order can be paid afterwards", async () => {
    const { checkout } = start();
    const cart = newCart(7498);
    const { plan } = await checkout.apply(cart, card);
    const order = { id: `order_${randomUUID()}`, cart, plan };
    cutAll();
    await expect(checkout.pay(order)).rejects.toEqual(lost);
    proxy.clear();
    expect(await checkout.pay(order)).toMatchObject({ status: "paid" });
    expect([await card.balanceCents(), bank.heldCents]).toEqual([2500, 2498]);
  });
});

it("an error of a statement is not retried", async () => {
  let queries = 0;
  const counted: PgPool = {
    query: (text, params) => {
      queries += 1;
      return pool.query(text, params);
    },
  };
  const missing = createPostgresStore({ pool: counted, schema: "gift_cards" });
  await missing.journal.now();
  queries = 0;
  await expect(missing.journal.charge("a\0b")).rejects.toMatchObject({ code: "22021" });
  expect(queries).toBe(1);
});
