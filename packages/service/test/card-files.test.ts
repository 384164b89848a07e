import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { operatorShell } from "./operator-shell.js";
import { call, onCard } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-files-"));
const HEAD = "cardnumber,pin,balance,expiry_date";
const WHY = ["--reason", "a test"];
let service: TestService;
let company: TestCompany;
let shell: ReturnType<typeof operatorShell>;
let files = 0;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl, secretsFile });
  shell = operatorShell(databaseUrl, secretsFile);
  company = await service.createCompany();
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

function write(content: string | Buffer): string {
  const file = path.join(folder, `cards-${++files}.csv`);
  fs.writeFileSync(file, content);
  return file;
}
const importFile = (content: string | Buffer) => shell.run(["card", "import", write(content)]);
const balanceOf = async (cardNumber: string, pin: string) =>
  (await call(service.url, "balance", onCard(company, { cardNumber, pin, expiryDate: "" }))).body.balance;

describe("card import", () => {
  test("reads a quoted separator as text, so that PIN and balance stay in their columns", async () => {
    const { value, stderr } = await importFile(
      [
        "expiry_date,cardnumber,remark,pin,balance",
        '2030-12-31,6006000000000000011,"Series A, 2026",482913,2500',
        "2030-12-31,6006000000000000029,Series B,012345,2500",
      ].join("\n"),
    );
    expect([value.cards, value.balance, stderr]).toEqual([2, 5000, ""]);
    expect(await balanceOf("6006000000000000011", "482913")).toBe(2500);
    expect(await balanceOf("6006000000000000029", "012345")).toBe(2500);
  });

  test.each([
    ['="…"', '"=""012345"""', "6006000000000000045"],
    ["'", "'012345", "6006000000000000052"],
  ])("removes the spreadsheet's guard %s, with a warning", async (_guard, cell, cardNumber) => {
    const { value, stderr } = await importFile(`${HEAD}\r\n${cardNumber},${cell},2500,2030-12-31\r\n`);
    expect([value.cards, stderr]).toEqual([1, expect.stringContaining("guard")]);
    expect(await balanceOf(cardNumber, "012345")).toBe(2500);
  });

  test("warns of numbers that a spreadsheet has rounded, and of PINs that lack leading zeros", async () => {
    const numbers = ["6009458073021570000", "6003681930364260000", "6001299722003320000"];
    const lines = numbers.map((number, index) => `${number};${["910631", "67357", "914785"][index]};2500;2030-12-31`);
    const { value, stderr } = await importFile([HEAD.replaceAll(",", ";"), ...lines, ""].join("\r\n"));
    expect(value.cards).toBe(3);
    expect(stderr).toMatch(/rounded/);
    expect(stderr).toMatch(/different lengths.*line 3/);
  });

  test.each([
    [
      "rows without content",
      "cardnumber;pin;balance;expiry_date\r\n6006000000000000060;123456;2500;2030-12-31\r\n;;;\r\n;;;\r\n",
    ],
    [
      "a line that names the separator",
      "sep=;\r\ncardnumber;pin;balance;expiry_date\r\n6006000000000000078;123456;2500;2030-12-31\r\n",
    ],
    [
      "UTF-16 with tabs",
      Buffer.from(
        "\uFEFFcardnumber\tpin\tbalance\texpiry_date\r\n6006000000000000086\t123456\t2500\t2030-12-31\r\n",
        "utf16le",
      ),
    ],
  ])("reads a file with %s", async (_what, content) => {
    const { value, stderr } = await importFile(content);
    expect([value.cards, value.balance, stderr]).toEqual([1, 2500, ""]);
  });

  test.each(["#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#BEZUG!", "#NV", "Err:502", "######"])(
    "refuses the spreadsheet's error %s as a PIN",
    async (error) => {
      const { exitCode, value } = await importFile(`${HEAD}\n6006000000000000094,${error},2500,2030-12-31\n`);
      expect([exitCode, value.faults]).toEqual([
        1,
        [{ line: 2, fault: expect.stringMatching(/^pin is a spreadsheet's error/) }],
      ]);
    },
  );

  test("accepts a PIN with a number sign that is no error", async () => {
    const { value } = await importFile(`${HEAD}\n6006000000000000102,#ABC12,2500,2030-12-31\n`);
    expect(value.cards).toBe(1);
  });

  test("refuses a file with mixed line ends", async () => {
    const line = (end: number) => `600600000000000020${end},123456,2500,2030-12-31`;
    const { exitCode, value } = await importFile(`${HEAD}\r\n${line(1)}\r\n${line(2)}\n${line(3)}\r\n`);
    expect([exitCode, value.error]).toEqual([2, expect.stringMatching(/line end differs/)]);
  });
});

test("card adjust --file changes the card in the column, not a number in a quoted remark", async () => {
  const made = await shell.succeed("card", "issue", "--balance", "100", "--count", "2");
  const [named, other] = made.map(({ card }: { card: number }) => card);
  const file = write(`remark,card\n"orders 5, ${other}, 20",${named}\n`);
  expect(await shell.succeed("card", "adjust", "--file", file, "--by", "100", ...WHY)).toMatchObject({ changed: 1 });
  expect((await shell.succeed("card", "show", "--card", String(named))).balance).toBe(200);
  expect((await shell.succeed("card", "show", "--card", String(other))).balance).toBe(100);
});
