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

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-bulk-"));
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
  expect(await shell.succeed("check")).toMatchObject({ ok: true, faults: [] });
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const WHY = ["--reason", "a test"];
let files = 0;
const write = (...lines: string[]) => {
  const file = path.join(folder, `cards-${++files}.csv`);
  fs.writeFileSync(file, lines.join("\n"));
  return file;
};
interface Issued {
  readonly card: number;
  readonly cardnumber: string;
  readonly pin: string;
}
/** Issues a batch. */
async function issue(count: number, ...more: string[]): Promise<{ batch: string; cards: Issued[] }> {
  const cards = await shell.succeed("card", "issue", "--balance", "1000", "--count", String(count), ...more);
  return { batch: String((await shell.succeed("card", "show", "--card", String(cards[0].card))).batch), cards };
}
const asCard = ({ cardnumber, pin }: { cardnumber: string; pin: string }): TestCard => ({
  cardNumber: cardnumber,
  pin,
  expiryDate: "",
});
const balance = async (card: Issued) => (await call(service.url, "balance", onCard(company, asCard(card)))).body;
const devalue = (card: TestCard, amount: number) => call(service.url, "devalue", { ...onCard(company, card), amount });
const entries = async () => (await db.query("select count(*)::int as n from audit_log")).rows[0].n;
const show = (card: Issued) => shell.succeed("card", "show", "--card", String(card.card));

describe("a change of a batch", () => {
  test("changes all its cards with an audit entry for each, and a repetition changes nothing", async () => {
    const { batch, cards } = await issue(3);
    await shell.succeed("card", "block", "--card", String(cards[1]?.card), ...WHY);
    const before = await entries();
    const answer = { batch: Number(batch), cards: 3, failed: 0, failures: [], dry_run: false };
    const block = ["card", "block", "--batch", batch, ...WHY];
    expect(await shell.succeed(...block, "--dry-run")).toEqual({
      ...answer,
      changed: 2,
      unchanged: 1,
      balance: 2000,
      dry_run: true,
    });
    expect((await balance(cards[0] as Issued)).card_status).toBe("Active");
    expect(await entries()).toBe(before);
    expect(await shell.succeed(...block)).toEqual({ ...answer, changed: 2, unchanged: 1, balance: 2000 });
    for (const card of cards) expect((await balance(card)).card_status).toBe("Blocked");
    expect(await entries()).toBe(before + 2);
    const audit = await shell.succeed("audit", "--card", String(cards[2]?.card));
    expect(audit.at(-1)).toMatchObject({ action: "card block", card: cards[2]?.card, reason: WHY[1], batch: null });
    expect(await shell.succeed(...block)).toMatchObject({ changed: 0, unchanged: 3 });
    expect(await entries()).toBe(before + 2);
    expect(await shell.succeed("card", "unblock", "--batch", batch, ...WHY)).toMatchObject({ changed: 3 });
  });

  test("extends and adjusts each card", async () => {
    const { batch, cards } = await issue(2, "--expires", "2040-01-01");
    expect(await shell.succeed("card", "extend", "--batch", batch, "--expires", "2041-01-01", ...WHY)).toMatchObject({
      changed: 2,
    });
    expect(await shell.succeed("card", "adjust", "--batch", batch, "--by", "-250", ...WHY)).toMatchObject({
      changed: 2,
      balance: 1500,
    });
    for (const card of cards) expect(await show(card)).toMatchObject({ balance: 750, expiry_date: "2041-01-01" });
  });

  test("changes nothing if one card can't be changed, unless --skip-failed is given", async () => {
    const { batch, cards } = await issue(4);
    const [spent, replaced] = cards as [Issued, Issued];
    await devalue(asCard(spent), 900);
    const { card: replacement } = await shell.succeed("card", "reissue", replaced.cardnumber, ...WHY);
    const before = await entries();
    const adjust = ["card", "adjust", "--batch", batch, "--by", "-200", ...WHY];
    const failures = [
      { line: null, card: spent.card, reason: expect.stringMatching(/holds 1\.00 EUR/) },
      { line: null, card: replaced.card, reason: expect.stringContaining(`--card ${replacement}`) },
    ];
    for (const more of [[], ["--dry-run"]]) {
      const refused = await shell.run([...adjust, ...more]);
      expect([refused.exitCode, refused.value]).toMatchObject([4, { cards: 4, failed: 2, failures }]);
      expect(refused.stderr).toMatch(/2 of 4 cards can't be adjusted\. Nothing was changed:/);
    }
    expect((await balance(cards[3] as Issued)).balance).toBe(1000);
    expect(await entries()).toBe(before);
    const { value, stderr } = await shell.run([...adjust, "--skip-failed"]);
    expect(value).toMatchObject({ changed: 2, failed: 2, failures, balance: 1600 });
    expect(stderr).toContain("2 of 4 cards can't be adjusted:");
    expect([(await balance(spent)).balance, (await balance(cards[3] as Issued)).balance]).toEqual([100, 800]);
  });

  test("changes 5,000 cards in less than ten seconds", { tags: "long", timeout: 120_000 }, async () => {
    const { batch, cards } = await issue(5000);
    const file = write("cardnumber", ...cards.map(({ cardnumber }) => cardnumber));
    for (const words of [
      ["block", "--file", file],
      ["unblock", "--batch", batch],
      ["adjust", "--by", "5", "--file", file],
      ["extend", "--expires", "2099-12-31", "--batch", batch],
      ["reissue", "--file", file, "--out", path.join(folder, "many.csv")],
    ]) {
      const startedMs = performance.now();
      expect(await shell.succeed("card", ...words, ...WHY)).toMatchObject({ changed: 5000, failed: 0 });
      expect([words[0], performance.now() - startedMs < 10_000]).toEqual([words[0], true]);
    }
  });

  test("changes nothing if the command is killed", async () => {
    const { batch, cards } = await issue(3);
    const words = ["card", "adjust", "--batch", batch, "--by", "5", ...WHY];
    for (const table of ["audit_log", "ledger"]) await shell.killAt(db, table, words);
    for (const card of cards) expect((await balance(card)).balance).toBe(1000);
  });
});

describe("a change of the cards in a file", () => {
  test("finds cards by number, also under older secrets, or by id", async () => {
    const { cards } = await issue(3);
    await shell.succeed("secrets", "rotate");
    const [first, second, third] = cards as [Issued, Issued, Issued];
    const grouped = first.cardnumber.replace(/(\d{4})(?=\d)/g, "$1 ");
    // The id of the first line is another card's: the number wins.
    const byNumber = write("\uFEFFCard;CardNumber", `${third.card};"${grouped}"`, "", `1;${second.cardnumber}`);
    expect(await shell.succeed("card", "block", "--file", byNumber, ...WHY)).toEqual({
      file: byNumber,
      cards: 2,
      changed: 2,
      unchanged: 0,
      failed: 0,
      failures: [],
      balance: 2000,
      dry_run: false,
    });
    const statuses = async () => Promise.all(cards.map(async (card) => (await balance(card)).card_status));
    expect(await statuses()).toEqual(["Blocked", "Blocked", "Active"]);
    const byId = write("card", String(second.card), String(first.card));
    await shell.succeed("card", "unblock", "--file", byId, ...WHY);
    expect(await statuses()).toEqual(["Active", "Active", "Active"]);
  });

  test("reports each faulty line without its content, and changes nothing", async () => {
    const { cards } = await issue(2);
    const [first, second] = cards as [Issued, Issued];
    const file = write(
      "cardnumber",
      first.cardnumber,
      "9528000000000000000",
      "no/number",
      first.cardnumber,
      second.cardnumber,
    );
    const adjust = ["card", "adjust", "--by", "10", "--file", file, ...WHY];
    const refused = await shell.run(adjust);
    const failures = [
      { line: 3, card: null, reason: "There is no card with this number." },
      { line: 4, card: null, reason: expect.stringMatching(/^cardnumber must be/) },
      { line: 5, card: first.card, reason: `Card ${first.card} is also in line 2.` },
    ];
    expect([refused.exitCode, refused.value]).toMatchObject([4, { cards: 5, failed: 3, failures }]);
    expect(refused.stderr).toContain("line 3: There is no card");
    for (const secret of [first.cardnumber, "9528000000000000000", "no/number"])
      expect(refused.stderr + JSON.stringify(refused.value)).not.toContain(secret);
    expect((await balance(first)).balance).toBe(1000);
    // A line that can't be read refuses the whole file.
    expect((await shell.run([...adjust, "--skip-failed"])).value).toMatchObject({ cards: 5, failed: 3, failures });
    expect((await balance(first)).balance).toBe(1000);
    const lines = fs.readFileSync(file, "utf8").split("\n").toSpliced(3, 1);
    const readable = ["card", "adjust", "--by", "10", "--file", write(...lines), ...WHY, "--skip-failed"];
    expect(await shell.succeed(...readable)).toMatchObject({ changed: 2, failed: 2 });
    expect([(await balance(first)).balance, (await balance(second)).balance]).toEqual([1010, 1010]);
    const unknownId = await shell.run(["card", "block", "--file", write("card", "2000000000", "x"), ...WHY]);
    expect(unknownId.value.failures).toEqual([
      { line: 2, card: null, reason: "There is no card with this id." },
      { line: 3, card: null, reason: expect.stringMatching(/id of a card/) },
    ]);
  });

  test("refuses to activate a card twice, but not a batch that was sold in part", async () => {
    const { batch, cards } = await issue(2, "--inactive");
    const [first] = cards as [Issued];
    const activate = ["card", "activate", "--file", write("cardnumber", first.cardnumber)];
    expect(await shell.succeed(...activate)).toMatchObject({ changed: 1, balance: 1000 });
    const again = await shell.run(activate);
    expect([again.exitCode, again.value.failures[0].reason]).toEqual([4, expect.stringMatching(/already active/)]);
    expect(await shell.succeed("card", "activate", "--batch", batch)).toMatchObject({ changed: 1, unchanged: 1 });
    expect(await Promise.all(cards.map(async (card) => (await balance(card)).balance))).toEqual([1000, 1000]);
  });

  test.each([
    { words: ["block", "--file", "nowhere.csv", ...WHY], exitCode: 1, message: /cannot be read \(ENOENT\)/ },
    { words: ["block", "--batch", "99999", ...WHY], exitCode: 3, message: /no batch with this id/ },
    { words: ["block", "1", "--batch", "1", ...WHY], exitCode: 2, message: /only one of them/ },
    { words: ["block", "--file", "x", "--batch", "1", ...WHY], exitCode: 2, message: /only one of them/ },
    { words: ["block", "1", "--dry-run", ...WHY], exitCode: 2, message: /need --batch or --file/ },
    { words: ["block", "--batch", "1"], exitCode: 2, message: /--reason/ },
    { words: ["reissue", "--batch", "1", ...WHY], exitCode: 2, message: /--out is required/ },
  ])("exits with $exitCode: $words", async ({ words, exitCode, message }) => {
    const refused = await shell.run(["card", ...words]);
    expect([refused.exitCode, refused.value.error]).toEqual([exitCode, expect.stringMatching(message)]);
  });

  test("exits with 2 if the file names no column or no card", async () => {
    for (const [text, message] of [
      ["", /must name a column/],
      ["9528000000000000000", /must name a column/],
      ["card", /has no cards/],
    ] as const) {
      const refused = await shell.run(["card", "block", "--file", write(text), ...WHY]);
      expect([refused.exitCode, refused.value.error]).toEqual([2, expect.stringMatching(message)]);
    }
  });
});

describe("a reissue of many cards", () => {
  test("writes the new cards into a file that only its owner can read, and moves each balance", async () => {
    const { batch, cards } = await issue(3);
    await devalue(asCard(cards[1] as Issued), 400);
    await devalue(asCard(cards[2] as Issued), 1000);
    const out = path.join(folder, "reissued.csv");
    const reissue = ["card", "reissue", "--batch", batch, ...WHY];
    expect(await shell.succeed(...reissue, "--dry-run")).toMatchObject({ changed: 3, balance: 1600, dry_run: true });
    expect(await shell.succeed(...reissue, "--out", out)).toMatchObject({ changed: 3, balance: 1600, out });
    expect(fs.statSync(out).mode & 0o777).toBe(0o600);
    const [head, ...lines] = fs.readFileSync(out, "utf8").trimEnd().split("\r\n");
    expect(head).toBe("card,replaces,cardnumber,pin,balance,expiry_date");
    const made = lines.map((line) => line.replaceAll('"', "").split(","));
    expect(made.map(([, replaces, , , cents]) => [Number(replaces), Number(cents)])).toEqual([
      [cards[0]?.card, 1000],
      [cards[1]?.card, 600],
      [cards[2]?.card, 0],
    ]);
    for (const [index, [card, , cardnumber = "", pin = "", cents]] of made.entries()) {
      const { balance: held } = await balance({ card: Number(card), cardnumber, pin });
      expect(held).toBe(Number(cents));
      expect(await balance(cards[index] as Issued)).toMatchObject({ balance: 0, card_status: "Blocked" });
    }
    // The file of the new cards can be given to the next command.
    expect(await shell.succeed("card", "block", "--file", out, ...WHY)).toMatchObject({ changed: 3 });
  });

  test("leaves neither a file nor a card if one card can't be reissued", async () => {
    const { batch, cards } = await issue(2);
    await shell.succeed("card", "reissue", (cards[1] as Issued).cardnumber, ...WHY);
    const count = async () => (await db.query("select count(*)::int as n from cards")).rows[0].n;
    const before = await count();
    const words = ["card", "reissue", "--batch", batch, "--out", path.join(folder, "never.csv"), ...WHY];
    expect((await shell.run(words)).exitCode).toBe(4);
    expect(await count()).toBe(before);
    expect(fs.readdirSync(folder).filter((name) => name.startsWith("never"))).toEqual([]);
    await shell.killAt(db, "ledger", ["card", "reissue", "--batch", batch, "--skip-failed", ...words.slice(4)]);
    expect(await count()).toBe(before);
    const partial = await shell.run([...words, "--skip-failed"]);
    expect(partial.value.error).toMatch(/never\.csv\.partial exists.*card show --card/);
  });
});
