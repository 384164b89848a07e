// @module-tag long

import { symlink } from "node:fs/promises";
import path from "node:path";
import type { CartSummary } from "@giftcard-pay/checkout/storefront";
import { createClient } from "@giftcard-pay/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../scripts/lib/process.mjs";
import { type Card, fillIn, type Newcomer, openNewcomer, type Service, type Serving } from "../support/newcomer.js";
import { testDatabase } from "../support/test-database.js";

let newcomer: Newcomer;
let service: Service;
let books: pg.Pool;
const processes: Serving[] = [];

beforeAll(async () => {
  newcomer = await openNewcomer(["docs/any-shop.md", "docs/shops/express.md"]);
  newcomer.env.DATABASE_URL = await testDatabase();
  books = new pg.Pool({ connectionString: newcomer.env.DATABASE_URL });
  newcomer.atEnd(() => books.end());
});
afterAll(() => newcomer?.close());

const balanceCents = async (card: Card) => {
  const { apiKey, id } = service.company;
  return (await createClient({ baseUrl: service.url, apiKey, companyId: Number(id) }).balance(card)).balanceCents;
};

async function start(): Promise<Serving> {
  const port = { "PORT=3000": `PORT=${await freePort()}` };
  const one = await newcomer.serve("The shop", fillIn(newcomer.take("PORT=3000 node shop.mjs"), port));
  processes.push(one);
  return one;
}

const process = (index: number) => processes[index] as Serving;

/** Applies a card with 75.00 to a new cart at one of the processes. */
async function shopperAt({ url }: Serving, card: Card) {
  const page = await fetch(url);
  const cookie = String(page.headers.get("set-cookie")?.split(";")[0]);
  const cart = String((await page.text()).match(/cart="([^"]+)"/)?.[1]);
  const applied = await fetch(`${url}/giftcards/carts/${cart}/cards`, {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify(card),
  });
  const { plan, ...shown } = (await applied.json()) as CartSummary;
  expect(shown).toMatchObject({ coveredCents: 5000, remainderCents: 2498 });
  const placeAt = (one: Serving) =>
    fetch(one.url, { method: "POST", headers: { cookie }, body: new URLSearchParams({ plan }) });
  return { cart, placeAt };
}

const invoices = async (cart: string) =>
  (await books.query("select cents::int, state from invoice where order_id = $1", [cart])).rows;

/** Locks the invoices. The result unlocks them. */
async function holdInvoices(): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: newcomer.env.DATABASE_URL });
  await client.connect();
  await client.query("begin; lock table invoice in share row exclusive mode");
  return () => client.end();
}

const isWaiting = async () => {
  const sql = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%invoice%'";
  return (await books.query(sql)).rows.length > 0;
};

describe("docs/shops/express.md, block by block", () => {
  it("starts a service, and reports missing tables", async () => {
    service = await newcomer.openService();
    await newcomer.shell(newcomer.take("npm install express pg"));
    for (const file of ["log.mjs", "settings.mjs", "shop.mjs"]) newcomer.takeFile(file);
    const said = newcomer.evaluate(`import { checkout } from "./shop.mjs";
      console.log(await checkout.recover().catch((error) => error.message));`);
    expect(await said).toContain("run store.migrate()");
    for (const file of ["books.mjs", "migrate.mjs"]) newcomer.takeFile(file);
    // Also in a symlinked folder, as deployments with a folder per release have it.
    await symlink(newcomer.folder, path.join(newcomer.folder, "current"));
    const migrate = newcomer.take("node migrate.mjs");
    for (const script of [`cd current; ${migrate}`, "node current/migrate.mjs", migrate])
      expect((await newcomer.shell(script)).stdout).toMatch(/^The tables are in the database \w+\.\n$/);
    expect((await books.query("select count(*)::int from invoice")).rows).toEqual([{ count: 0 }]);
    expect(
      await newcomer.evaluate(`import { checkout } from "./shop.mjs";
      console.log((await checkout.recover()).charges.length);`),
    ).toBe("0");
  });

  it("charges a card at one process that was applied at another, once", async () => {
    await start();
    await start();
    expect(await (await fetch(`${process(0).url}/giftcard-pay.js`)).text()).toContain("giftcard-pay");
    const { cart, placeAt } = await shopperAt(process(0), service.card);
    for (const one of [process(1), process(0)]) {
      const paid = await placeAt(one);
      expect(await paid.text()).toContain(`Order ${cart} is paid, 2498 by invoice`);
    }
    expect(await balanceCents(service.card)).toBe(2500);
    expect(await invoices(cart)).toEqual([{ cents: 2498, state: "open" }]);
  });

  it("logs each event as a line of JSON without secrets", async () => {
    const lines = processes.flatMap((one) => one.logs().trim().split("\n"));
    const events = lines.map((line) => JSON.parse(line));
    expect(events).toContainEqual(expect.objectContaining({ message: "purchase", state: "paid" }));
    expect(events).toContainEqual(expect.objectContaining({ message: "charge", state: "committed" }));
    const { card, company } = service;
    for (const secret of [card.cardNumber, card.pin, company.apiKey, String(newcomer.env.SEALING_KEY)])
      expect(lines.join("\n")).not.toContain(secret);
  });

  it("finishes a pending order on SIGTERM", async () => {
    const card = await newcomer.issueCard();
    const { cart, placeAt } = await shopperAt(process(0), card);
    const release = await holdInvoices();
    const placing = placeAt(process(0));
    await expect.poll(isWaiting).toBe(true);
    const stopping = process(0).stop();
    // It accepts no further connection.
    await expect
      .poll(() =>
        fetch(process(0).url).then(
          () => "answers",
          () => "closed",
        ),
      )
      .toBe("closed");
    await release();
    expect(await (await placing).text()).toContain(`Order ${cart} is paid`);
    await stopping;
    expect(process(0).logs()).toContain('"stopped"');
    expect(await balanceCents(card)).toBe(2500);
  });

  it("recovers a killed process's purchase in another process", async () => {
    const killed = await start();
    const card = await newcomer.issueCard();
    const { cart, placeAt } = await shopperAt(killed, card);
    const release = await holdInvoices();
    const placing = placeAt(killed).catch(() => "died");
    await expect.poll(isWaiting).toBe(true);
    expect(await balanceCents(card)).toBe(2500);
    await killed.kill();
    expect(await placing).toBe("died");
    await release();
    // As if the lease of two minutes had expired, and then the minute between two recoveries had passed.
    for (const table of ["giftcard_purchase", "giftcard_charge"])
      await books.query(`update ${table} set lease_until = now(), next_try_at = now() where lease_until is not null`);
    const recover =
      'import { checkout } from "./shop.mjs"; console.log((await checkout.recover()).purchases[0].state);';
    const said = (await newcomer.evaluate(recover)).split("\n").at(-1);
    const hasInvoice = (await invoices(cart))[0]?.state === "open";
    // PostgreSQL may have executed the waiting statement or not. Both are right if the card agrees.
    expect(said).toBe(hasInvoice ? "paid" : "failed");
    expect(await balanceCents(card)).toBe(hasInvoice ? 2500 : 7500);
    const { placeAt: placeAgain, cart: another } = await shopperAt(process(1), await newcomer.issueCard());
    expect(await (await placeAgain(process(1))).text()).toContain(`Order ${another} is paid`);
  });

  it("redirects a request without a cart, and shows no internal error", async () => {
    const url = process(1).url;
    const nobody = await fetch(url, { method: "POST", redirect: "manual" });
    expect([nobody.status, nobody.headers.get("location")]).toEqual([302, "/"]);
    await books.query("alter table invoice rename to elsewhere");
    const { placeAt } = await shopperAt(process(1), await newcomer.issueCard());
    const failed = await placeAt(process(1));
    expect([failed.status, await failed.text()]).toEqual([500, "Try again later"]);
    await books.query("alter table elsewhere rename to invoice");
    // The log still has lines of JSON, also for a failure in a gift card route.
    await books.query("alter table giftcard_tender rename to elsewhere");
    const before = process(1).logs().length;
    await expect(shopperAt(process(1), await newcomer.issueCard())).rejects.toThrow();
    await books.query("alter table elsewhere rename to giftcard_tender");
    const failure = { level: "error", code: "42P01", message: expect.stringContaining("giftcard_tender") };
    const said = () => process(1).logs().slice(before).trim().split("\n");
    await expect.poll(() => said().map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining(failure));
  });

  it("has no block that was not run", () => {
    expect(newcomer.left()).toEqual([]);
    expect(newcomer.blocks.length).toBeGreaterThan(8);
  });
});
