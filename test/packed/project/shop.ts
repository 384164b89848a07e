/** A shop that uses every published package. A new project compiles it as an ES module or as CommonJS. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import {
  CheckoutError,
  createCheckout,
  createHandler,
  createPostgresStore,
  type HandlerOptions,
} from "@giftcard-pay/checkout";
import { journalConformance } from "@giftcard-pay/checkout/conformance";
import { toNodeListener } from "@giftcard-pay/checkout/node";
import type { RemainderMethod } from "@giftcard-pay/checkout/remainder";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import type { CheckoutStore } from "@giftcard-pay/checkout/store";
import type { CartSummary } from "@giftcard-pay/checkout/storefront";
import { cents, createClient, GiftcardError, RefusedError, Secret } from "@giftcard-pay/client";
import { endpoints, MAX_DEDUCTION_CENTS } from "@giftcard-pay/client/contract";
import { feed, feedItemOf, writeEvents } from "@giftcard-pay/events";
import { csv, readCsv } from "@giftcard-pay/events/csv";
import { iCalendar } from "@giftcard-pay/events/icalendar";
import { startThrowawayPostgres } from "@giftcard-pay/service";
import { GiftcardPay } from "@giftcard-pay/widget";
import "@giftcard-pay/widget/define";
import pg from "pg";

const { GIFTCARD_BASE_URL: baseUrl = "", GIFTCARD_API_KEY: apiKey = "", GIFTCARD_COMPANY_ID: companyId } = process.env;
const client = createClient({ baseUrl, apiKey, companyId: Number(companyId) });
const cards: { cardnumber: string; pin: string }[] = JSON.parse(process.env.CARDS ?? "[]");

/** Checks that static and dynamic imports share the classes, for `instanceof` and for the compiler. */
async function checkIdentity(): Promise<void> {
  const imported = await import("@giftcard-pay/client");
  const secret: Secret = new imported.Secret("4711");
  assert(secret instanceof Secret);
  const refusal = await client.balance({ cardNumber: "6064990000000000000", pin: "0000" }).catch((error) => error);
  assert(refusal instanceof RefusedError && refusal instanceof imported.GiftcardError);
  assert.equal(refusal.code, "invalid_card");
  assert.equal(imported.GiftcardError, GiftcardError);
  assert.equal(endpoints.devalue.path.includes("devalue"), true);
  assert.equal(cents(MAX_DEDUCTION_CENTS), 5000);
  assert.equal(typeof GiftcardPay.define, "function");
}

/** Pays 74.98, of which a card pays 50.00, and cancels the order. The checkout's route applies the card. */
async function buy(store: CheckoutStore, card: { cardnumber: string; pin: string } | undefined): Promise<void> {
  assert(card);
  const sealingKeys = [{ id: "1", key: randomBytes(32).toString("base64") }];
  let givenBack = 0;
  const remainder: RemainderMethod = {
    async authorize({ remainderCents }) {
      assert.equal(remainderCents, 2498);
      return { status: "authorized" };
    },
    status: async () => ({ status: "authorized" }),
    cancel: async () => void givenBack++,
  };
  const checkout = createCheckout({ issuer: client, environment: "sandbox", store, sealingKeys, remainder });
  const cart = { id: randomUUID(), totalCents: cents(7498), currency: "EUR" };
  const cartOf: HandlerOptions["cartOf"] = () => cart;
  const giftcards = createHandler(checkout, { cartOf });
  const server = http.createServer(toNodeListener(giftcards)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const applied = await fetch(`http://127.0.0.1:${port}/giftcards/carts/${cart.id}/cards`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ cardNumber: card.cardnumber, pin: card.pin }),
  });
  const summary = (await applied.json()) as CartSummary;
  assert.deepEqual([summary.coveredCents, summary.remainderCents], [5000, 2498]);
  server.close();

  const order = { id: randomUUID(), cart, plan: summary.plan };
  const { status, remainderCents } = await checkout.pay(order);
  assert.deepEqual([status, remainderCents], ["paid", 2498]);
  const credentials = { cardNumber: card.cardnumber, pin: card.pin };
  assert.equal((await client.balance(credentials)).balanceCents, 2500);
  const another = { ...order, id: randomUUID(), cart: { ...cart, id: randomUUID() } };
  const refusal = await checkout.pay(another).catch((error) => error);
  assert(refusal instanceof CheckoutError && refusal.code === "amount_changed");
  await checkout.cancel(order.id);
  assert.equal(givenBack, 1);
  assert.equal((await client.balance(credentials)).balanceCents, 7500);
}

/** Reads an event from CSV, and writes it to a feed, CSV and a calendar. */
async function listEvents(): Promise<void> {
  const table = `event_key,event_name,event_organiser,event_start_date,event_start_time,ticket_link,activated
night,Lentenacht,Zaal BV,2036-04-12,21:00:00,https://shop.example/night,1`;
  const { entries, faults } = await readCsv(table);
  assert.deepEqual(faults, []);
  const events = entries.map(({ event }) => event);
  const formats = [feed, csv, iCalendar({ name: "Shows", at: new Date() })];
  const texts: string[] = [];
  for (const format of formats) {
    let text = "";
    for await (const piece of writeEvents(events, format)) text += piece;
    texts.push(text);
  }
  const [fed = "", written = "", calendar = ""] = texts;
  assert.deepEqual(JSON.parse(fed), { events: events.map(feedItemOf) });
  assert.deepEqual((await readCsv(written)).entries[0]?.event, events[0]);
  assert.match(calendar, /DTSTART;TZID=Europe\/Amsterdam:20360412T210000/);
}

async function main(): Promise<void> {
  await checkIdentity();
  await listEvents();
  const postgres = await startThrowawayPostgres();
  const pool = new pg.Pool({ connectionString: postgres.url });
  pool.on("error", () => {}); // the server stops before its connections are closed
  const tried = ["PostgreSQL"];
  try {
    const store = createPostgresStore({ pool });
    await store.migrate();
    await buy(store, cards[0]);
  } finally {
    await pool.end();
    await postgres.close();
  }
  if (process.env.SQLITE_FILE) {
    const store = await createSqliteStore({ file: process.env.SQLITE_FILE });
    await buy(store, cards[1]);
    const [first] = journalConformance(() => store.journal);
    await first?.run();
    store.close();
    tried.push("SQLite");
  }
  console.log(`paid 74.98 = 50.00 + 24.98 and gave it back, with ${tried.join(" and ")}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
