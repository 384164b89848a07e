// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  runCommand,
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call, credentials, onCard } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-companies-"));
let services: TestService[];
let db: pg.Client;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  services = [];
  for (let index = 0; index < 2; index++) services.push(await startGiftcardService({ databaseUrl, secretsFile }));
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  for (const service of services.reverse()) await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const service = () => services[0] as TestService;
// biome-ignore lint/suspicious/noExplicitAny: the output of any command
const command = (...words: string[]): Promise<any> => service().command(...words);
const fails = async (...words: string[]) =>
  (await runCommand(words, { GIFTCARD_DATABASE_URL: service().databaseUrl, GIFTCARD_REASON: "x" })).exitCode;
const newest = async () => (await command("audit")).at(-1);
const WHY = ["--reason", "its invoices are unpaid"];

describe("a suspended company", () => {
  let shop: TestCompany;
  let card: TestCard;
  const calls = (url: string) =>
    ({
      balance: () => call(url, "balance", onCard(shop, card)),
      devalue: () => call(url, "devalue", { ...onCard(shop, card), amount: 100 }),
      listEvents: () => call(url, "listEvents", { apikey: shop.apiKey }),
      authenticate: () => call(url, "authenticate", {}, { headers: basic(shop.email, shop.password) }),
    }) as const;
  const statuses = async () =>
    (
      await Promise.all(services.map(({ url }) => Promise.all(Object.values(calls(url)).map(async (one) => one()))))
    ).map((answers) => answers.map(({ status }) => status));

  beforeAll(async () => {
    shop = await service().createCompany();
    card = await service().issueCard({ balanceCents: 5000 });
  });

  test("has its keys and logins refused at once, in every process, until it is resumed", async () => {
    const all = (status: number) => services.map(() => [status, status, status, status]);
    expect(await statuses()).toEqual(all(200));
    const suspend = () => command("company", "suspend", String(shop.companyId), ...WHY);
    const suspended = await suspend();
    expect(suspended).toEqual({
      company_id: shop.companyId,
      name: "A shop",
      suspended_at: expect.stringMatching(/Z$/),
    });
    for (let round = 0; round < 2; round++) expect(await statuses()).toEqual(all(401));
    const entry = await newest();
    expect(entry).toMatchObject({ action: "company suspend", company_id: shop.companyId, reason: WHY[1] });
    expect(await suspend()).toEqual(suspended);
    expect(await newest()).toEqual(entry);
    const listed = (await command("company", "list")).find(
      ({ company_id }: { company_id: number }) => company_id === shop.companyId,
    );
    expect(listed.suspended_at).toBe(suspended.suspended_at);
    const resumed = await command("company", "resume", String(shop.companyId), ...WHY);
    expect(resumed.suspended_at).toBe(null);
    expect(await statuses()).toEqual(all(200));
    expect(await newest()).toMatchObject({ action: "company resume" });
  });

  test("can cancel its devalues by token and by key, and takes no money while it does", async () => {
    const before = (await call(service().url, "balance", onCard(shop, card))).body.balance;
    const headers = { "Idempotency-Key": "gc_suspended" };
    const paid = await call(service().url, "devalue", { ...onCard(shop, card), amount: 300 });
    await call(service().url, "devalue", { ...onCard(shop, card), amount: 200 }, { headers });
    await command("company", "suspend", String(shop.companyId), ...WHY);
    const cancel = (more: object, how = {}) =>
      call(service().url, "cancelDevalue", { ...credentials(shop), ...more }, how);
    expect((await cancel({ cancel_token: paid.body.cancel_token })).body.amount_refunded).toBe(300);
    expect((await cancel({ cancel_token: paid.body.cancel_token })).status).toBe(409);
    expect((await cancel({}, { headers })).body).toMatchObject({ amount_refunded: 200, card_new_balance: before });
    // A devalue whose outcome the shop does not know can still be resolved, and then never happens.
    const late = { headers: { "Idempotency-Key": "gc_late" } };
    expect((await cancel({}, late)).status).toBe(404);
    await command("company", "resume", String(shop.companyId), ...WHY);
    expect((await call(service().url, "devalue", { ...onCard(shop, card), amount: 1 }, late)).status).toBe(409);
    expect(await command("check")).toMatchObject({ ok: true });
  });

  test("is renamed, and closed for good", async () => {
    const id = String(shop.companyId);
    await command("company", "suspend", id, ...WHY);
    const renamed = { company_id: shop.companyId, name: "Another shop", before: "A shop" };
    expect(await command("company", "rename", id, "--name", "Another shop", ...WHY)).toEqual(renamed);
    expect(await newest()).toMatchObject({
      action: "company rename",
      details: { from: "A shop", to: "Another shop" },
    });
    await command("company", "close", id);
    for (const words of [["suspend"], ["resume"], ["rename", "--name", "B"]]) {
      const [name = "", ...more] = words;
      expect([name, await fails("company", name, id, ...more)]).toEqual([name, 4]);
      expect([name, await fails("company", name, "99999", ...more)]).toEqual([name, 3]);
    }
  });
});

describe("card find", () => {
  test("finds a card by its last four digits, and by the amount and day of a movement", async () => {
    const shop = await service().createCompany();
    const card = await service().issueCard({ balanceCents: 9000 });
    const lastFour = card.cardNumber.slice(-4);
    await call(service().url, "devalue", { ...onCard(shop, card), amount: 7250 });
    await call(service().url, "devalue", { ...onCard(shop, card), amount: 110 });
    const { day: today } = (await db.query("select (now() at time zone 'Europe/Amsterdam')::date::text as day"))
      .rows[0];
    const find = (...words: string[]) => command("card", "find", "--last-four", lastFour, ...words);
    const paid = { kind: "devalue", company_id: shop.companyId, company: "A shop", at: expect.stringMatching(/Z$/) };
    const found = await find("--amount", "110", "--on", today);
    expect(found).toEqual([
      {
        ...((await service().command("card", "show", card.cardNumber)) as object),
        locked_until: undefined,
        movements: [{ ...paid, id: expect.any(Number), amount: -110 }],
      },
    ]);
    // The amount that the shop requested is found too.
    expect((await find("--amount", "7250"))[0].movements).toEqual([
      expect.objectContaining({ ...paid, amount: -5000 }),
    ]);
    expect((await find("--on", today))[0].movements.map(({ amount }: { amount: number }) => amount)).toEqual([
      9000, -5000, -110,
    ]);
    expect((await find())[0].movements).toEqual([]);
    expect(await find("--amount", "110", "--on", "2020-01-01")).toEqual([]);
    expect(await find("--amount", "111")).toEqual([]);
    expect(JSON.stringify(found)).not.toContain(card.cardNumber);
    expect(await fails("card", "find", "--last-four", card.cardNumber)).toBe(2);
  });
});
