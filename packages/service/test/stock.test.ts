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
import { call, onCard } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-stock-"));
let service: TestService;
let company: TestCompany;
let db: pg.Client;
let shell: ReturnType<typeof operatorShell>;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl, secretsFile });
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

const WHY = ["--reason", "a test"];
const inFolder = (name: string) => path.join(folder, name);
const balance = (card: TestCard) => call(service.url, "balance", onCard(company, card));
const devalue = (card: TestCard, amount: number) => call(service.url, "devalue", { ...onCard(company, card), amount });
const asCard = (value: { cardnumber: string; pin: string }): TestCard => ({
  cardNumber: value.cardnumber,
  pin: value.pin,
  expiryDate: "",
});
const issueInactive = async (...more: string[]) =>
  asCard(await shell.succeed("card", "issue", "--balance", "2500", "--inactive", ...more));
const activate = (card: TestCard) => shell.run(["card", "activate", card.cardNumber]);
const count = async (table: string) => (await db.query(`select count(*)::int as n from ${table}`)).rows[0].n;
const expectExactLedger = async () => expect(await shell.succeed("check")).toMatchObject({ ok: true, faults: [] });
/** Reads a file of cards that `--out` has written. */
const readCards = (file: string) => {
  const [head, ...lines] = fs.readFileSync(file, "utf8").trimEnd().split("\r\n");
  expect(head).toBe("card,batch,cardnumber,pin,balance,expiry_date");
  return lines.map((line) => {
    const [card, batch, cardnumber = "", pin = "", cents, expiry] = line
      .split(",")
      .map((cell) => cell.replaceAll('"', ""));
    return { card, batch, cardnumber, pin, cents, expiry };
  });
};

describe("a card that is not sold yet", () => {
  test("has no balance: it is Blocked for callers, and has no money in the ledger", async () => {
    const card = await issueInactive();
    const { status, body } = await balance(card);
    expect([status, body.balance, body.card_status]).toEqual([200, 0, "Blocked"]);
    const refused = await devalue(card, 100);
    expect([refused.status, refused.body.card_status]).toEqual([400, "Blocked"]);
    expect(await shell.succeed("card", "show", card.cardNumber)).toMatchObject({
      balance: 0,
      inactive_balance: 2500,
    });
    for (const words of [["adjust", "--by", "1"], ["reissue"]]) {
      const [name = "", ...more] = words;
      const { exitCode, value } = await shell.run(["card", name, card.cardNumber, ...more, ...WHY]);
      expect([exitCode, value.error]).toEqual([4, expect.stringMatching(/Activate it first/)]);
    }
    await expectExactLedger();
  });

  test("gets its initial balance once, however often it is activated", async () => {
    const card = await issueInactive();
    expect((await activate(card)).value).toMatchObject({
      card_status: "Active",
      balance: 2500,
      inactive_balance: null,
    });
    expect((await shell.succeed("audit")).at(-1)).toMatchObject({
      action: "card activate",
      details: { cards: 1, balance: 2500 },
    });
    const again = await activate(card);
    expect([again.exitCode, again.value.error]).toEqual([4, expect.stringMatching(/already active/)]);
    expect((await balance(card)).body).toMatchObject({ balance: 2500, card_status: "Active" });
    expect((await devalue(card, 2500)).body.amount_deducted).toBe(2500);
    await expectExactLedger();
  });

  test("cannot be activated while it is blocked or expired", async () => {
    const blocked = await issueInactive();
    await shell.succeed("card", "block", blocked.cardNumber, ...WHY);
    expect((await activate(blocked)).value.error).toMatch(/is blocked\. Unblock it first/);
    await shell.succeed("card", "unblock", blocked.cardNumber, ...WHY);
    expect((await activate(blocked)).exitCode).toBe(0);
    const expired = await issueInactive("--expires", "2020-01-01");
    expect((await activate(expired)).value.error).toMatch(/has expired\. Extend it first/);
    await shell.succeed("card", "extend", expired.cardNumber, "--expires", "2099-01-01", ...WHY);
    expect((await activate(expired)).value.balance).toBe(2500);
    expect((await shell.run(["card", "activate", "9528000000000000000"])).exitCode).toBe(3);
  });

  test("gets no money from an activation that is killed", async () => {
    const card = await issueInactive();
    for (const table of ["audit_log", "ledger"]) await shell.killAt(db, table, ["card", "activate", card.cardNumber]);
    expect((await balance(card)).body).toMatchObject({ balance: 0, card_status: "Blocked" });
    expect((await activate(card)).value.balance).toBe(2500);
    await expectExactLedger();
  });
});

describe("a batch", () => {
  test("of any size is written to a file that only its owner can read, and is activated as a whole", async () => {
    const file = inFolder("stock.csv");
    const words = ["card", "issue", "--balance", "1500", "--inactive", "--count", "12000", "--expires", "2099-05-31"];
    expect((await shell.run(words)).value.error).toMatch(/Give --out/);
    const issued = await shell.succeed(...words, "--out", file);
    expect(issued).toEqual({
      batch: expect.any(Number),
      cards: 12_000,
      balance: 1500,
      expiry_date: "2099-05-31",
      inactive: true,
      file,
    });
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const cards = readCards(file);
    expect(new Set(cards.map(({ cardnumber }) => cardnumber)).size).toBe(12_000);
    expect(cards[0]).toMatchObject({ batch: String(issued.batch), cents: "1500", expiry: "2099-05-31" });
    const [first, second, last] = [cards[0], cards[1], cards.at(-1)] as [
      (typeof cards)[0],
      (typeof cards)[0],
      (typeof cards)[0],
    ];
    expect((await balance(asCard(last))).body).toMatchObject({ balance: 0, card_status: "Blocked" });
    const listed = async () =>
      (await shell.succeed("card", "batches")).find((one: { batch: number }) => one.batch === issued.batch);
    const batch = {
      batch: issued.batch,
      origin: "issue",
      created_at: expect.stringMatching(/Z$/),
      cards: 12_000,
    };
    expect(await listed()).toEqual({
      ...batch,
      balance: 0,
      inactive_cards: 12_000,
      inactive_balance: 18_000_000,
    });

    // One card is already sold, and one is stolen.
    await shell.succeed("card", "activate", first.cardnumber);
    await shell.succeed("card", "block", "--card", second.card as string, ...WHY);
    const activateBatch = ["card", "activate", "--batch", String(issued.batch)];
    const refused = await shell.run(activateBatch);
    const failures = [{ line: null, card: Number(second.card), reason: expect.stringMatching(/Unblock it first/) }];
    expect([refused.exitCode, refused.value.failures]).toEqual([4, failures]);
    expect((await listed()).inactive_cards).toBe(11_999);
    expect(await shell.succeed(...activateBatch, "--skip-failed")).toEqual({
      batch: issued.batch,
      cards: 12_000,
      changed: 11_998,
      unchanged: 1,
      failed: 1,
      failures,
      balance: 17_997_000,
      dry_run: false,
    });
    expect((await devalue(asCard(last), 1500)).body.amount_deducted).toBe(1500);
    expect((await devalue(asCard(second), 1500)).status).toBe(400);
    expect(await listed()).toEqual({
      ...batch,
      balance: 17_997_000,
      inactive_cards: 1,
      inactive_balance: 1500,
    });
    expect((await shell.run([...activateBatch, "--skip-failed"])).exitCode).toBe(4);
    await shell.succeed("card", "unblock", "--card", second.card as string, ...WHY);
    expect(await shell.succeed(...activateBatch)).toMatchObject({ changed: 1, unchanged: 11_999, failed: 0 });
    expect((await shell.run(activateBatch)).value.error).toMatch(/already activated/);
    // A card's audit log includes the issue of its batch.
    const actions = (await shell.succeed("audit", "--card", last.card as string)).map(
      (one: { action: string }) => one.action,
    );
    expect(actions).toEqual(["card issue", "card activate"]);
    await expectExactLedger();
  });

  test("never overwrites a file, and leaves neither a file nor a card if the command fails", async () => {
    const file = inFolder("kept.csv");
    fs.writeFileSync(file, "kept");
    const words = (name: string) => ["card", "issue", "--balance", "1", "--count", "1500", "--out", name];
    const before = await count("cards");
    expect((await shell.run(words(file))).exitCode).toBe(4);
    expect(fs.readFileSync(file, "utf8")).toBe("kept");
    expect((await shell.run(words(inFolder("nowhere/stock.csv")))).exitCode).toBe(1);
    fs.symlinkSync(inFolder("nowhere.csv"), inFolder("link.csv"));
    const link = await shell.run(words(inFolder("link.csv")));
    expect([link.exitCode, link.value.error]).toEqual([4, expect.stringContaining("link.csv already exists")]);
    fs.rmSync(inFolder("link.csv"));
    await db.query(`create function fail_late() returns trigger language plpgsql as $$ begin
        if (select count(*) from cards) > ${before + 1200} then raise exception 'full'; end if; return null; end $$;
      create trigger fail_late after insert on cards for each statement execute function fail_late()`);
    try {
      expect((await shell.run(words(inFolder("failed.csv")))).exitCode).toBe(1);
    } finally {
      await db.query("drop trigger fail_late on cards; drop function fail_late");
    }
    expect(fs.readdirSync(folder).filter((name) => name.startsWith("failed"))).toEqual([]);
    expect(await count("cards")).toBe(before);
  });

  test("leaves no card if the command is killed, and a file whose name shows that it is incomplete", async () => {
    const before = await count("cards");
    const file = inFolder("killed.csv");
    const words = ["card", "issue", "--balance", "1", "--count", "1500", "--out", file];
    await shell.killAt(db, "ledger", words);
    expect(await count("cards")).toBe(before);
    expect(fs.existsSync(file)).toBe(false);
    expect((await shell.run(words)).value.error).toMatch(/killed\.csv\.partial exists.*card batches/);
    fs.rmSync(`${file}.partial`);
    expect((await shell.run(words)).exitCode).toBe(0);
  });

  test("makes the command exit with 3 if its id is unknown, and with 2 if a card is given too", async () => {
    expect((await shell.run(["card", "activate", "--batch", "99999"])).exitCode).toBe(3);
    expect((await shell.run(["card", "activate", "1", "--batch", "1"])).exitCode).toBe(2);
    expect((await shell.run(["card", "activate", "--batch", "x"])).exitCode).toBe(2);
  });
});

describe("card import", () => {
  const HEAD = "cardnumber,pin,balance,expiry_date";
  let files = 0;
  const write = (...lines: string[]) => {
    const file = inFolder(`import-${++files}.csv`);
    fs.writeFileSync(file, lines.join("\n"), { mode: 0o600 });
    return file;
  };
  const importFile = (file: string, ...more: string[]) => shell.run(["card", "import", file, ...more]);

  test("imports numbers and PINs unchanged, after a dry run that changes nothing", async () => {
    const file = write(
      "\uFEFFpin;note;cardnumber;balance;expiry_date",
      '"0012";x;"6006000000000000011";2500;2099-01-31',
      "",
      "9;y;GC77;0;2099-01-31\r",
    );
    const before = await count("cards");
    const dryRun = await importFile(file, "--dry-run");
    expect(dryRun.value).toEqual({ batch: null, cards: 2, balance: 2500, expired: 0, short_pins: 2, dry_run: true });
    expect(await count("cards")).toBe(before);
    const { value } = await importFile(file);
    expect(value).toEqual({
      batch: expect.any(Number),
      cards: 2,
      balance: 2500,
      expired: 0,
      short_pins: 2,
      dry_run: false,
    });
    const card = asCard({ cardnumber: "6006000000000000011", pin: "0012" });
    expect((await balance(card)).body).toMatchObject({
      balance: 2500,
      card_status: "Active",
      expiry_date: "2099-01-31",
    });
    expect((await devalue(card, 100)).body.amount_deducted).toBe(100);
    expect((await balance(asCard({ cardnumber: "GC77", pin: "9" }))).body.card_status).toBe("No balance");
    expect(await shell.succeed("card", "show", card.cardNumber)).toMatchObject({
      batch: value.batch,
      last_four: "0011",
    });
    expect((await shell.succeed("audit")).at(-1)).toMatchObject({
      action: "card import",
      batch: value.batch,
      details: { cards: 2, balance: 2500, inactive: false },
    });
    await expectExactLedger();
  });

  test("reports every faulty line without its content, and imports nothing", async () => {
    const card = await service.issueCard({ balanceCents: 1 });
    // The file's numbers are hashed with newer secrets than the number of that card.
    await shell.succeed("secrets", "rotate");
    const file = write(
      HEAD,
      "6006000000000000029,sesame,100,2099-01-31",
      "6006 0000 0000 0000,sesame,100,2099-01-31",
      "6006000000000000037,,12.50,31-01-2099",
      "6006000000000000029,other,100,2099-01-31",
      `${card.cardNumber},sesame,100,2099-01-31`,
      "6006000000000000045,sesame",
    );
    const before = await count("cards");
    for (const more of [[], ["--dry-run"]]) {
      const { exitCode, value, stderr } = await importFile(file, ...more);
      expect(exitCode).toBe(1);
      expect(value.faults).toEqual([
        { line: 3, fault: expect.stringMatching(/^cardnumber/) },
        { line: 4, fault: expect.stringMatching(/^pin .*; balance .*; expiry_date/) },
        { line: 5, fault: "the number is also in line 2" },
        { line: 6, fault: "a card with this number already exists" },
        { line: 7, fault: "the line has 2 cells, but the header has 4" },
      ]);
      expect(stderr).toContain("line 5: the number is also in line 2");
      for (const secret of ["6006", "sesame", "12.50", card.cardNumber])
        expect(stderr + JSON.stringify(value)).not.toContain(secret);
    }
    expect(await count("cards")).toBe(before);
  });

  test("lists the first hundred faults of a file that was imported before", {
    tags: "long",
    timeout: 120_000,
  }, async () => {
    const lines = Array.from(
      { length: 140_000 },
      (_, index) => `62${String(index).padStart(8, "0")},123456,0,2099-01-31`,
    );
    const file = write("CardNumber,PIN,Balance,Expiry_Date", lines.join("\n"));
    await importFile(file);
    const { exitCode, value, stderr } = await importFile(file);
    expect([exitCode, value.fault_count, value.faults.length]).toEqual([1, 140_000, 100]);
    expect(value.faults[0]).toEqual({ line: 2, fault: "a card with this number already exists" });
    expect(stderr).toMatch(/and 139900 more$/m);
  });

  test("refuses a file that cannot be read, or whose columns have no names", async () => {
    expect((await importFile(inFolder("missing.csv"))).value.error).toMatch(/cannot be read \(ENOENT\)/);
    for (const head of ["", "number,pin,balance", "6006000000000000053,1,1,2099-01-31"]) {
      const { exitCode, value } = await importFile(write(head));
      expect([exitCode, value.error]).toEqual([2, expect.stringMatching(/columns cardnumber, pin, balance/)]);
    }
  });

  test("imports cards that are not sold yet, and expired ones", async () => {
    const file = write(HEAD, "6006000000000000061,1,700,2099-01-31", "6006000000000000079,1,300,2020-01-31");
    const { value, stderr } = await importFile(file, "--inactive");
    expect([value.expired, value.short_pins, stderr]).toEqual([1, 2, expect.stringMatching(/already expired/)]);
    expect(stderr).toContain("2 cards have a PIN of fewer than 6 characters");
    const card = asCard({ cardnumber: "6006000000000000061", pin: "1" });
    expect((await balance(card)).body).toMatchObject({ balance: 0, card_status: "Blocked" });
    expect(await shell.succeed("card", "activate", "--batch", String(value.batch), "--skip-failed")).toMatchObject({
      changed: 1,
      failed: 1,
    });
    expect((await balance(card)).body.balance).toBe(700);
    await expectExactLedger();
  });

  test("imports a file once if two imports of it race, and nothing if it is killed", async () => {
    const lines = Array.from({ length: 6000 }, (_, index) => `61${String(index).padStart(8, "0")},1234,10,2099-01-31`);
    const file = write(HEAD, ...lines);
    const before = await count("cards");
    await shell.killAt(db, "ledger", ["card", "import", file]);
    expect(await count("cards")).toBe(before);
    const both = await Promise.all([importFile(file), importFile(file)]);
    expect(both.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
    const refused = both.find(({ exitCode }) => exitCode === 1);
    expect(refused?.value.faults.length).toBeGreaterThan(0);
    expect(await count("cards")).toBe(before + 6000);
    await expectExactLedger();
  });
});
