import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { dayOf } from "@giftcard-pay/checkout/operator";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "./support/command-line.js";
import { paymentsOf } from "./support/figures.js";
import { editTo, fulfil, refundOf, takeBack } from "./support/order-admin.js";
import { buy, giveBack } from "./support/ordinary-shop.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

/* The shop has orders of other files too, which have to reconcile as well. */

const DAY_MS = 24 * 60 * 60_000;
/** The export leaves out what is younger than two minutes. */
const SETTLED_MS = 3 * 60_000;
const days = { from: dayOf(new Date(Date.now() - 20 * DAY_MS)), to: dayOf(new Date()) };
const query = `from=${days.from}&to=${days.to}`;
const settings = {
  ...{ consultantNumber: 1001, clientNumber: 7, chart: "SKR03", accountLength: 5, fiscalYearStart: "12-15" },
  revenue: { "9": "83090", "21": "84210" },
};

let shop: SharedShop;
let folder: string;
beforeAll(async () => {
  shop = await sharedShop("by-line");
  await shop.storefront.createProduct("volume", 24.95);
  await shop.storefront.createProduct("pamphlet", 12.95);
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-books-"));
  await writeFile(path.join(folder, "datev.json"), JSON.stringify(settings));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const books = async () => (await shop.storefront.ok("GET", `/admin/giftcard-pay/books?${query}`)).books;
const csvRows = async () => {
  const { status, body, headers } = await shop.storefront.send("GET", `/admin/giftcard-pay/books/csv?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(headers.get("content-disposition")).toBe(`attachment; filename="books-${days.from}-${days.to}.csv"`);
  const lines = (body as string).trimEnd().split("\r\n");
  const cells = (line: string) =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = ""]) => cell.replaceAll('"', ""));
  const names = cells(lines[0] ?? "");
  return lines.slice(1).map((line) => Object.fromEntries(names.map((name, index) => [name, cells(line)[index] ?? ""])));
};
const cents = (text: string | undefined) => Math.round(Number(text) * 100);
const command = (...args: string[]) =>
  runCommand(shop.databaseUrl, "books", "--from", days.from, "--to", days.to, ...args);

test("an export reconciles with the statement and Medusa, for every kind of order", async () => {
  const split = await buy(shop, { volume: 3 }, { balancesCents: [5000] });
  const returned = await buy(shop, { volume: 2, pamphlet: 1 }, { balancesCents: [3000, 1500] });
  const covered = await buy(shop, { pamphlet: 1 }, { balancesCents: [5000], codes: [] });
  const plain = await buy(shop, { pamphlet: 2 }, { balancesCents: [], codes: ["FIVE"] });
  const canceled = await buy(shop, { volume: 1 }, { balancesCents: [1000] });
  const begun = await buy(shop, { volume: 1 }, { balancesCents: [1000], captured: false });
  const [card] = paymentsOf(await shop.storefront.order(begun.orderId)).gifts;
  await shop.storefront.ok("POST", `/admin/payments/${card?.id}/capture`, {});
  for (const { orderId } of [canceled, begun]) await shop.storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
  expect(await refundOf(shop.storefront, begun.orderId)).toMatchObject({ owedCents: 0, unexplained: [], rest: null });
  await fulfil(shop.storefront, returned.orderId, ["volume"]);
  await takeBack(shop.storefront, returned.orderId, "volume", 1);
  const refundedCents = await giveBack(shop.storefront, returned.orderId);
  await editTo(shop.storefront, split.orderId, "volume", 2);
  await shop.passTime(SETTLED_MS);

  const totals = await books();
  expect(totals.checks.filter(({ differenceCents }: { differenceCents: number }) => differenceCents !== 0)).toEqual([]);
  expect(totals).toMatchObject({ reconciles: true, currency: "EUR", datev: { code: "not_set" } });

  const rows = await csvRows();
  const names = await Promise.all(
    [split, returned, covered, plain, canceled, begun].map(async ({ orderId }) => {
      const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=id,display_id`);
      return `#${order.display_id}`;
    }),
  );
  const kindsOf = (name: string | undefined) =>
    rows.filter(({ order }) => order === name).map(({ movement }) => movement);
  expect(names.map(kindsOf)).toEqual([
    ["sale"],
    ["sale", "refund"],
    ["sale"],
    ["sale"],
    ["sale", "cancellation"],
    ["sale", "cancellation"],
  ]);
  const refund = rows.find(({ order, movement }) => order === names[1] && movement === "refund");
  expect([cents(refund?.gross_eur), cents(refund?.paid_eur)]).toEqual([-refundedCents, -refundedCents]);
  const ofCanceled = rows.filter(({ order }) => order === names[4]);
  for (const column of ["gross_eur", "net_eur", "vat_eur", "cards_eur", "paid_eur"])
    expect(ofCanceled.reduce((sum, row) => sum + cents(row[column]), 0)).toBe(0);

  const path = `/admin/giftcard-pay/statement?month=${days.to.slice(0, 7)}`;
  const { statement } = await shop.storefront.ok("GET", path);
  const lineOf = (orderId: string) => statement.lines.find((line: { orderId: string }) => line.orderId === orderId);
  expect(lineOf(canceled.orderId)).toMatchObject({ chargedCents: 1000, canceledCents: 1000, refundedCents: 0 });
  expect(lineOf(returned.orderId)).toMatchObject({ canceledCents: 0, refundedCents: expect.any(Number) });
  expect(lineOf(returned.orderId).refundedCents).toBeGreaterThan(0);

  const total = rows.at(-1);
  expect(total?.day).toBe("total");
  for (const column of ["gross_eur", "net_eur", "vat_eur", "cards_eur", "pp_bank_bank_eur", "paid_eur"])
    expect(rows.slice(0, -1).reduce((sum, row) => sum + cents(row[column]), 0)).toBe(cents(total?.[column]));
  for (const row of rows) expect(cents(row.net_eur) + cents(row.vat_eur)).toBe(cents(row.gross_eur));
});

test("a difference is reported: the command fails, and the CSV ends with it", async () => {
  const { orderId } = await buy(shop, { pamphlet: 1 }, { balancesCents: [] });
  const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=id,display_id`);
  await shop.passTime(SETTLED_MS);
  const database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  const raise = (cents: number) =>
    database.query(
      `update order_summary set totals = jsonb_set(totals, '{raw_current_order_total,value}',
         to_jsonb(((totals -> 'raw_current_order_total' ->> 'value')::numeric + $2)::text)) where order_id = $1 and version = 1`,
      [orderId, cents / 100],
    );
  await database.query(
    `insert into giftcard_order (order_id, cart_id, lines) values ($1, 'cart_none', '[{"id": "order", "quantity": 1, "totalCents": 1166}]')
     on conflict (order_id) do update set lines = excluded.lines`,
    [orderId],
  );
  await raise(100);
  try {
    const { exitCode, stdout } = await command("--csv");
    expect([exitCode, order.display_id]).toEqual([1, expect.any(Number)]);
    expect(stdout).toMatch(/"difference","sales: the export has .* a difference of -?\d+\.\d\d"/);
  } finally {
    await raise(-100);
    await database.query("delete from giftcard_order where order_id = $1 and cart_id = 'cart_none'", [orderId]);
    await database.end();
  }
});

test("a DATEV file has its header, 125 columns, and bookings that add up to the totals", async () => {
  const output = path.join(folder, "EXTF.csv");
  const accounts = path.join(folder, "datev.json");
  const refused = await command("--datev");
  expect(refused).toMatchObject({ exitCode: 2, stdout: expect.stringContaining("The option datev is not set.") });
  const { exitCode, stdout } = await command("--datev", "--datev-settings", accounts, "--output", output);
  expect(exitCode, stdout).toBe(0);
  const bytes = await readFile(output);
  const [header = [], columns = [], ...bookings] = readDatev(bytes);
  expect(header).toHaveLength(31);
  expect(header.slice(0, 5)).toEqual(['"EXTF"', "700", "21", '"Buchungsstapel"', "13"]);
  expect(header[5]).toMatch(/^\d{17}$/);
  expect(header.slice(10, 16)).toEqual([
    "1001",
    "7",
    expect.stringMatching(/^20\d\d1215$/),
    "5",
    ...[days.from, days.to].map((day) => day.replaceAll("-", "")),
  ]);
  expect(columns).toHaveLength(125);
  expect(new Set(columns).size).toBe(125);
  const at = (name: string) => columns.indexOf(name);
  const totals = JSON.parse((await command("--json")).stdout);
  const sums = new Map<string, number>();
  for (const cells of bookings) {
    expect(cells).toHaveLength(125);
    expect(cells[0]).toMatch(/^\d{1,10},\d\d$/);
    expect(cells[1]).toMatch(/^"[SH]"$/);
    expect(cells[at("Belegdatum")]).toMatch(/^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])$/);
    expect(cells[at("Belegfeld 1")]).toMatch(/^"[A-Za-z0-9$&%*+/-]{0,36}"$/);
    expect(cells[at("Buchungstext")]?.length).toBeLessThanOrEqual(62);
    const [account, offset] = [cells[at("Konto")], cells[at("Gegenkonto (ohne BU-Schlüssel)")]] as [string, string];
    for (const one of [account, offset]) expect(one).toMatch(/^[1-9]\d{4}$/);
    const debit = Number(cells[0]?.replace(",", "")) * (cells[1] === '"S"' ? 1 : -1);
    sums.set(account, (sums.get(account) ?? 0) + debit);
    sums.set(offset, (sums.get(offset) ?? 0) - debit);
  }
  const netOf = (method: string) => totals.byMethod.find((one: { method: string }) => one.method === method).netCents;
  expect(sums.get("15000") ?? 0).toBe(netOf("card"));
  expect(sums.get("14100") ?? 0).toBe(totals.receivableCents);
  expect([...sums.values()].reduce((sum, one) => sum + one, 0)).toBe(0);
});

/** Reads a DATEV file as strictly as its description: Windows-1252, CRLF, semicolons, quotes doubled within quotes. */
function readDatev(bytes: Buffer): string[][] {
  const text = new TextDecoder("windows-1252", { fatal: true }).decode(bytes);
  expect(text.endsWith("\r\n")).toBe(true);
  expect(text.includes("�")).toBe(false);
  return text
    .slice(0, -2)
    .split("\r\n")
    .map((line) => {
      expect(line).not.toMatch(/[\r\n]/);
      const cells = [...line.matchAll(/(?:^|;)("(?:[^"]|"")*"|[^";]*)(?=;|$)/g)].map(([, cell = ""]) => cell);
      expect(cells.join(";")).toBe(line);
      return cells;
    });
}
