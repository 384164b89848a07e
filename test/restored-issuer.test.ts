import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Checkout, createCheckout } from "@giftcard-pay/checkout";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import { cents, createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, type ServeProcess, spawnServe } from "./support/service.js";

// The issuer restores a backup, and the shop's journal gives it back the charges that it lost.

interface Card {
  readonly cardnumber: string;
  readonly pin: string;
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-restored-"));
const place = (name: string) => path.join(folder, name);
const file = place("charges.csv");
const ENV = { GIFTCARD_REASON: "a test" };
const days = {
  from: new Date(Date.now() - 48 * 3_600_000).toISOString().slice(0, 10),
  to: new Date(Date.now() + 48 * 3_600_000).toISOString().slice(0, 10),
};
const key = { apiKey: "", companyId: 0 };
let server: ServeProcess;
let shop: Checkout;
let closeStore: () => void;
let cards: Card[];

const run = async (where: string, ...words: string[]) => {
  const { exitCode, stdout, stderr } = await runCommand([...words, "--data-dir", where, "--json"], ENV);
  return { exitCode, stderr, value: JSON.parse(stdout) };
};
const succeed = async (...words: [string, ...string[]]) => {
  const { exitCode, stderr, value } = await run(...words);
  expect([words, exitCode, stderr]).toEqual([words, 0, expect.anything()]);
  return value;
};
const serve = (where: string, port: string) =>
  spawnServe(["--data-dir", where, "--calls-per-minute", "0", "--log-level", "warn", "--port", port], ENV);
const client = () => createClient({ baseUrl: server.url, ...key });
const cardOf = (index: number) => {
  const { cardnumber, pin } = cards[index] as Card;
  return { cardNumber: cardnumber, pin };
};
const balance = async (index: number) => (await client().balance(cardOf(index))).balanceCents;
const outcomes = (rows: { reference: string; outcome: string }[]) =>
  Object.fromEntries(rows.map(({ reference, outcome }) => [orders.get(reference), outcome]));
const importFile = (...words: string[]) => run(place("restored"), "transactions", "import", file, ...words);

/** The orders by the references of their charges. */
const orders = new Map<string, string>();

/** Pays an order with a card. */
async function pay(id: string, index: number, totalCents: number) {
  const cart = { id: `cart_${id}`, totalCents: cents(totalCents), currency: "EUR" };
  await shop.apply(cart, cardOf(index));
  await shop.pay({ id, cart });
  const { charges } = await shop.operator.charges({ orderIds: [id] });
  for (const { reference } of charges) orders.set(reference, id);
}
const referenceOf = (id: string) => [...orders].find(([, order]) => order === id)?.[0] as string;

beforeAll(async () => {
  server = await serve(place("data"), "0");
  const made = await succeed(
    ...[place("data"), "company", "create", "--name", "A", "--email", "a@example.nl", "--password", "geheim"],
  );
  Object.assign(key, { apiKey: made.apikey, companyId: made.company_id });
  cards = await succeed(place("data"), "card", "issue", "--balance", "6000", "--count", "5");
  const store = await createSqliteStore({ file: place("shop.db") });
  closeStore = store.close;
  const sealingKeys = [{ id: "test", key: Buffer.alloc(32, 7).toString("base64") }];
  shop = createCheckout({ issuer: client(), environment: "live", store, sealingKeys });

  await pay("kept", 0, 1000);
  await pay("kept-then-canceled", 1, 3000);
  await succeed(place("data"), "backup", "--to", place("backup"));
  await pay("lost", 2, 4000);
  await pay("lost-too", 2, 1500);
  await pay("lost-and-canceled", 3, 2000);
  await shop.cancel("lost-and-canceled");
  await shop.cancel("kept-then-canceled");
  await pay("lost-and-spent-again", 4, 5000);
  expect(await Promise.all([0, 1, 2, 3, 4].map(balance))).toEqual([5000, 6000, 500, 6000, 1000]);

  const { port } = new URL(server.url);
  await server.stop();
  fs.mkdirSync(place("restored"));
  fs.copyFileSync(path.join(place("data"), "secrets.json"), path.join(place("restored"), "secrets.json"));
  await succeed(place("restored"), "restore", "--from", place("backup"));
  server = await serve(place("restored"), port);
  expect(await Promise.all([0, 1, 2, 3, 4].map(balance))).toEqual([5000, 3000, 6000, 6000, 6000]);
  // Before the import, the last card's money is spent once more.
  await client().devalue({ ...cardOf(4), amountCents: cents(5000), reference: "another-till" });
  fs.writeFileSync(file, await shop.operator.exportCharges(days));
});
afterAll(async () => {
  closeStore();
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

const expected = {
  kept: "unchanged",
  "kept-then-canceled": "reversed",
  lost: "booked",
  "lost-too": "booked",
  "lost-and-canceled": "booked",
  "lost-and-spent-again": "balance_too_low",
};

test("the shop's file has no card number, PIN or cancel token", async () => {
  const text = fs.readFileSync(file, "utf8");
  expect(text.split("\r\n")).toHaveLength(8);
  for (const { cardnumber, pin } of cards) {
    expect(text).not.toContain(cardnumber);
    expect(text).not.toMatch(new RegExp(`\\b${pin}\\b`));
  }
  // The column has a hash: as a token, it cancels nothing.
  for (const [hash] of text.matchAll(/[0-9a-f]{64}/g))
    await expect(client().cancelDevalue({ cancelToken: hash as string })).rejects.toMatchObject({
      code: "token_invalid",
    });
});

test("a dry run judges each charge, and changes nothing", async () => {
  const before = await succeed(place("restored"), "check");
  const { exitCode, value } = await importFile("--dry-run");
  expect([exitCode, outcomes(value.rows)]).toEqual([4, expected]);
  expect(value).toMatchObject({ dry_run: true, booked: 3, reversed: 1, unchanged: 1, failed: 1 });
  expect(await succeed(place("restored"), "check")).toEqual(before);
  expect(await succeed(place("restored"), "audit")).not.toContainEqual(
    expect.objectContaining({ action: "transactions import" }),
  );
});

test("the import books what was lost, and reports the charge whose money was spent again", async () => {
  const { exitCode, value, stderr } = await importFile();
  expect([exitCode, outcomes(value.rows)]).toEqual([4, expected]);
  expect(stderr).toContain("balance_too_low: the card no longer has this amount");
  expect(await Promise.all([0, 1, 2, 3, 4].map(balance))).toEqual([5000, 6000, 500, 6000, 1000]);
  expect(await succeed(place("restored"), "check")).toMatchObject({ ok: true, balance: 18500 });
  const entry = (await succeed(place("restored"), "audit")).at(-1);
  expect(entry).toMatchObject({
    action: "transactions import",
    reason: "a test",
    details: { charges: 4, cents: 5500 },
  });
  const movements = await succeed(place("restored"), "transactions", "--reference", referenceOf("lost"));
  expect(movements).toEqual([expect.objectContaining({ kind: "devalue", amount: -4000, audit: entry.id })]);
});

test("a second import changes nothing", async () => {
  const before = await succeed(place("restored"), "check");
  const { value } = await importFile();
  expect(value).toMatchObject({ booked: 0, reversed: 0, unchanged: 5, failed: 1 });
  expect(await succeed(place("restored"), "check")).toEqual(before);
});

test("a repeated devalue gets the same token and takes nothing; with another card or amount it is refused", async () => {
  const reference = referenceOf("lost");
  const repeated = await client().devalue({ ...cardOf(2), amountCents: cents(4000), reference });
  expect(repeated.deductedCents).toBe(4000);
  const other = { ...cardOf(0), amountCents: cents(4000), reference };
  const wrongPin = { ...cardOf(2), pin: cardOf(0).pin, amountCents: cents(4000), reference };
  for (const call of [other, wrongPin, { ...cardOf(2), amountCents: cents(3999), reference }])
    await expect(client().devalue(call)).rejects.toMatchObject({ code: "invalid_request" });
  expect(await balance(2)).toBe(500);
  await client().cancelDevalue({ cancelToken: repeated.cancelToken });
  expect(await balance(2)).toBe(4500);
  // The shop's own token is the same one.
  expect(await shop.cancel("lost")).toEqual([expect.objectContaining({ state: "reversed" })]);
  expect(await balance(2)).toBe(4500);
});

test("the shop cancels an imported charge with the token in its journal", async () => {
  expect(await shop.cancel("lost-too")).toEqual([expect.objectContaining({ state: "reversed" })]);
  expect(await balance(2)).toBe(6000);
  expect(await succeed(place("restored"), "check")).toMatchObject({ ok: true, balance: 24000 });
});
