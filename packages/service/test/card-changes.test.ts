import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { operatorShell } from "./operator-shell.js";
import { call, credentials, onCard } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-changes-"));
let service: TestService;
let company: TestCompany;
let db: pg.Client;
let shell: ReturnType<typeof operatorShell>;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl, secretsFile, args: ["--pin-failures", "3"] });
  shell = operatorShell(databaseUrl, secretsFile);
  company = await service.createCompany();
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const WHY = ["--reason", "as the customer was told"];
const balance = (card: TestCard) => call(service.url, "balance", onCard(company, card));
const devalue = (card: TestCard, amount: number, headers = {}) =>
  call(service.url, "devalue", { ...onCard(company, card), amount }, { headers });
const cancel = (cancel_token: string) => call(service.url, "cancelDevalue", { ...credentials(company), cancel_token });
const adjust = (card: TestCard, by: number) =>
  shell.run(["card", "adjust", card.cardNumber, "--by", String(by), ...WHY]);
const newest = async () => (await shell.succeed("audit")).at(-1);
const expectExactLedger = async () => expect(await shell.succeed("check")).toMatchObject({ ok: true, faults: [] });

describe("card adjust", () => {
  test("changes a balance by ledger rows that refer to the audit log", async () => {
    const card = await service.issueCard({ balanceCents: 1000 });
    expect((await adjust(card, 250)).value).toMatchObject({ balance: 1250, card_status: "Active" });
    expect((await adjust(card, -1250)).value).toMatchObject({ balance: 0, card_status: "No balance" });
    const entry = await newest();
    expect(entry).toMatchObject({ action: "card adjust", reason: WHY[1], details: { by: -1250 } });
    expect((await shell.succeed("card", "show", card.cardNumber, "--history")).history.slice(1)).toEqual([
      expect.objectContaining({ kind: "adjust", amount: 250, balance: 1250, company_id: null }),
      expect.objectContaining({ kind: "adjust", amount: -1250, balance: 0, audit: entry.id }),
    ]);
    expect((await balance(card)).body.balance).toBe(0);
    await expectExactLedger();
  });

  test("refuses to take more than the balance, shows the balance, and writes nothing", async () => {
    const card = await service.issueCard({ balanceCents: 300 });
    const before = await newest();
    const refused = await adjust(card, -301);
    expect([refused.exitCode, refused.value.error]).toEqual([4, expect.stringMatching(/holds 3\.00 EUR/)]);
    expect((await adjust(card, 100_000_000)).exitCode).toBe(4);
    expect(await newest()).toEqual(before);
    expect((await balance(card)).body.balance).toBe(300);
  });

  test("changes the balance twice if it is run twice, and the history shows both", async () => {
    const card = await service.issueCard({ balanceCents: 100 });
    await adjust(card, 50);
    await adjust(card, 50);
    const { balance: cents, history } = await shell.succeed("card", "show", card.cardNumber, "--history");
    expect([cents, history.length]).toEqual([200, 3]);
  });

  test("works on a blocked or expired card", async () => {
    const blocked = await service.issueCard({ balanceCents: 100 });
    await shell.succeed("card", "block", blocked.cardNumber, ...WHY);
    expect((await adjust(blocked, 100)).value).toMatchObject({ balance: 200, card_status: "Blocked" });
    const expired = await service.issueCard({ balanceCents: 100, expires: "2020-01-01" });
    expect((await adjust(expired, -100)).value).toMatchObject({ balance: 0, card_status: "Expired" });
  });

  test("changes nothing and releases the card if it is killed", async () => {
    const card = await service.issueCard({ balanceCents: 1000 });
    const before = await newest();
    for (const table of ["audit_log", "ledger"]) {
      await shell.killAt(db, table, ["card", "adjust", card.cardNumber, "--by", "500", ...WHY]);
      expect((await devalue(card, 1)).status).toBe(200);
    }
    expect((await balance(card)).body.balance).toBe(998);
    expect(await newest()).toEqual(before);
    await expectExactLedger();
  });
});

describe("card reissue", () => {
  const reissue = (card: TestCard) => shell.run(["card", "reissue", card.cardNumber, ...WHY]);
  const asCard = (value: { cardnumber: string; pin: string; expiry_date: string }): TestCard => ({
    cardNumber: value.cardnumber,
    pin: value.pin,
    expiryDate: value.expiry_date,
  });

  test("moves the balance to a new number and PIN, and closes the old one for good", async () => {
    const old = await service.issueCard({ balanceCents: 2500, expires: "2088-03-04" });
    await shell.succeed("card", "block", old.cardNumber, ...WHY);
    const { value } = await reissue(old);
    expect(value).toEqual({
      card: expect.any(Number),
      cardnumber: expect.stringMatching(/^9528\d{15}$/),
      pin: expect.stringMatching(/^\d{6}$/),
      balance: 2500,
      expiry_date: "2088-03-04",
      replaces: expect.any(Number),
    });
    const made = asCard(value);
    expect((await balance(made)).body).toMatchObject({
      balance: 2500,
      card_status: "Active",
      expiry_date: "2088-03-04",
    });
    expect((await balance(old)).body).toMatchObject({ balance: 0, card_status: "Blocked" });
    const refused = await devalue(old, 100);
    expect([refused.status, refused.body.card_status]).toEqual([400, "Blocked"]);
    expect((await devalue(made, 100)).body.amount_deducted).toBe(100);
    const entry = await newest();
    expect(entry).toMatchObject({
      action: "card reissue",
      card: value.replaces,
      details: { new_card: value.card, new_last_four: made.cardNumber.slice(-4), balance: 2500 },
    });
    expect(JSON.stringify(entry)).not.toContain(made.cardNumber);
    // The new card's audit log includes the entries of the card that it replaces.
    const actions = (await shell.succeed("audit", "--card", String(value.card))).map(
      (one: { action: string }) => one.action,
    );
    expect(actions).toEqual(["card issue", "card block", "card reissue"]);
    await expectExactLedger();
  });

  test("closes the old card: each command refuses it, and names its replacement", async () => {
    const old = await service.issueCard({ balanceCents: 500 });
    const { value } = await reissue(old);
    for (const words of [
      ["reissue"],
      ["adjust", "--by", "1"],
      ["extend", "--expires", "2099-12-31"],
      ["block"],
      ["unblock"],
    ]) {
      const [name = "", ...more] = words;
      const { exitCode, value: failure } = await shell.run(["card", name, old.cardNumber, ...more, ...WHY]);
      expect([name, exitCode, failure.error]).toEqual([name, 4, expect.stringContaining(`--card ${value.card}`)]);
    }
    const shown = await shell.succeed("card", "show", old.cardNumber);
    expect(shown).toMatchObject({ reissued_as: value.card, balance: 0 });
    expect((await shell.succeed("card", "show", "--card", String(value.card))).balance).toBe(500);
  });

  test("keeps the old card's tokens and keys valid: refunds go to the current card", async () => {
    const first = await service.issueCard({ balanceCents: 9000 });
    const headers = { "Idempotency-Key": "before-the-reissue" };
    const [byToken, byKey] = [await devalue(first, 1000), await devalue(first, 700, headers)];
    const second = asCard((await reissue(first)).value);
    const third = asCard((await reissue(second)).value);
    expect((await balance(third)).body.balance).toBe(7300);
    const done = await cancel(byToken.body.cancel_token);
    expect([done.status, done.body]).toEqual([200, { success: true, amount_refunded: 1000, card_new_balance: 8300 }]);
    expect((await cancel(byToken.body.cancel_token)).status).toBe(409);
    // A repeated devalue is still replayed, and can be reversed by its key.
    expect((await devalue(first, 700, headers)).text).toBe(byKey.text);
    const ended = await call(service.url, "cancelDevalue", credentials(company), { headers });
    expect([ended.status, ended.body.card_new_balance]).toEqual([200, 9000]);
    const balances = await Promise.all([first, second, third].map(balance));
    expect(balances.map(({ body }) => body.balance)).toEqual([0, 0, 9000]);
    const { history } = await shell.succeed("card", "show", first.cardNumber, "--history");
    expect(history.map((row: { kind: string; amount: number }) => [row.kind, row.amount])).toEqual([
      ["issue", 9000],
      ["devalue", -1000],
      ["devalue", -700],
      ["move", -7300],
      ["cancel", 1000],
      ["move", -1000],
      ["cancel", 700],
      ["move", -700],
    ]);
    await expectExactLedger();
  });

  test("replaces an expired card with an expired one, and an empty card with an empty one", async () => {
    const expired = await service.issueCard({ balanceCents: 400, expires: "2020-01-01" });
    expect((await balance(asCard((await reissue(expired)).value))).body).toMatchObject({
      balance: 400,
      card_status: "Expired",
    });
    const empty = await service.issueCard({ balanceCents: 0 });
    expect((await balance(asCard((await reissue(empty)).value))).body.card_status).toBe("No balance");
    await expectExactLedger();
  });

  test("changes nothing if it is killed, and creates no second card", async () => {
    const card = await service.issueCard({ balanceCents: 1000 });
    const cards = async () => (await db.query("select count(*)::int as n from cards")).rows[0].n;
    const before = await cards();
    for (const table of ["audit_log", "ledger"])
      await shell.killAt(db, table, ["card", "reissue", card.cardNumber, ...WHY]);
    expect((await devalue(card, 100)).body.amount_deducted).toBe(100);
    expect(await cards()).toBe(before);
    await expectExactLedger();
  });
});

describe("card extend", () => {
  test("makes an expired card valid again, and never shortens a card's validity", async () => {
    const card = await service.issueCard({ balanceCents: 100, expires: "2020-01-01" });
    const extend = (day: string) => shell.run(["card", "extend", card.cardNumber, "--expires", day, ...WHY]);
    expect((await extend("2088-01-01")).value).toMatchObject({
      card_status: "Active",
      expiry_date: "2088-01-01",
    });
    const entry = await newest();
    expect(entry).toMatchObject({ action: "card extend", details: { from: "2020-01-01", to: "2088-01-01" } });
    expect((await devalue(card, 10)).status).toBe(200);
    expect((await extend("2088-01-01")).exitCode).toBe(0);
    expect((await extend("2087-12-31")).exitCode).toBe(4);
    expect(await newest()).toEqual(entry);
    expect((await balance(card)).body.expiry_date).toBe("2088-01-01");
  });
});

describe("card unlock", () => {
  const wrong = (card: TestCard) => balance({ ...card, pin: "wrong" });

  test("unlocks only the given number, also if the card was issued after a rotation of the secrets", async () => {
    await shell.succeed("secrets", "rotate");
    const [one, other] = [
      await service.issueCard({ balanceCents: 100 }),
      await service.issueCard({ balanceCents: 100 }),
    ];
    for (const card of [one, other]) {
      for (let index = 0; index < 3; index++) expect((await wrong(card)).status).toBe(400);
      expect((await balance(card)).status).toBe(429);
    }
    const shown = await shell.succeed("card", "show", one.cardNumber);
    expect(Date.parse(shown.locked_until)).toBeGreaterThan(Date.now());
    const unlock = () => shell.succeed("card", "unlock", one.cardNumber, ...WHY);
    expect(await unlock()).toMatchObject({ was_locked: true, card_status: "Active" });
    expect(await newest()).toMatchObject({ action: "card unlock", details: { was_locked: true } });
    expect((await balance(one)).status).toBe(200);
    expect((await balance(other)).status).toBe(429);
    expect(await unlock()).toMatchObject({ was_locked: false });
    expect((await shell.succeed("card", "show", one.cardNumber)).locked_until).toBe(null);
    // The count restarts: three wrong PINs are allowed again.
    for (let index = 0; index < 3; index++) expect((await wrong(one)).status).toBe(400);
    expect((await balance(one)).status).toBe(429);
  });

  test("exits with 3 for an unknown number", async () => {
    expect((await shell.run(["card", "unlock", "9528000000000000000", ...WHY])).exitCode).toBe(3);
  });
});
