import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Command } from "commander";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { program } from "../src/cli/program.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-cli-"));
const env: NodeJS.ProcessEnv = { GIFTCARD_SECRETS_FILE: path.join(folder, "secrets.json") };

beforeAll(async () => {
  env.GIFTCARD_DATABASE_URL = await testDatabase();
  await runCommand(["migrate"], env);
});

afterAll(() => fs.rmSync(folder, { recursive: true }));

const run = (...args: string[]) => runCommand(args, env);
/** Runs a command with --json, and checks that it prints exactly one value. */
async function json(...args: string[]) {
  const { exitCode, stdout, stderr } = await run(...args, "--json");
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return { exitCode, value: JSON.parse(stdout), stderr };
}

describe("the output of", () => {
  test("company create and list", async () => {
    const made = await json(
      "company",
      "create",
      "--name",
      "Zaal BV",
      "--email",
      "zaal@example.nl",
      "--password",
      "geheim",
    );
    expect(made.value).toEqual({
      company_id: expect.any(Number),
      apikey: expect.stringMatching(/^[A-Za-z0-9]{60}$/),
    });
    const { value } = await json("company", "list");
    expect(value).toContainEqual({
      company_id: made.value.company_id,
      name: "Zaal BV",
      emails: ["zaal@example.nl"],
      account_ids: [expect.any(Number)],
      events: 0,
      event_bytes: 0,
    });
    const again = await json("company", "create", "--name", "B", "--email", "ZAAL@example.nl", "--password", "geheim");
    expect([again.exitCode, again.value.exit_code]).toEqual([4, 4]);
    expect((await json("company", "list")).value).toHaveLength(1);
  });

  test("card issue, show, block and unblock", async () => {
    const { value: card } = await json("card", "issue", "--balance", "7500", "--expires", "2031-05-31");
    expect(card).toEqual({
      card: expect.any(Number),
      cardnumber: expect.stringMatching(/^\d{19}$/),
      pin: expect.stringMatching(/^\d{6}$/),
      balance: 7500,
      expiry_date: "2031-05-31",
    });
    const shown = {
      card: card.card,
      card_status: "Active",
      balance: 7500,
      currency: "EUR",
      expiry_date: "2031-05-31",
      last_four: card.cardnumber.slice(-4),
      blocked: false,
      inactive_balance: null,
      reissued_as: null,
      batch: null,
    };
    const byNumber = { ...shown, locked_until: null };
    expect((await json("card", "show", card.cardnumber)).value).toEqual(byNumber);
    expect((await json("card", "show", "--card", String(card.card))).value).toEqual(shown);
    const why = ["--reason", "lost"];
    expect((await json("card", "block", card.cardnumber, ...why)).value.card_status).toBe("Blocked");
    expect((await json("card", "block", card.cardnumber, ...why)).value.card_status).toBe("Blocked");
    expect((await json("card", "unblock", card.cardnumber, ...why)).value.card_status).toBe("Active");
    const text = await run("card", "show", card.cardnumber);
    const [id, lastFour] = [card.card, card.cardnumber.slice(-4)];
    expect(text.stdout).toContain(`card ${id} ending in ${lastFour}: Active, 75.00 EUR`);
    expect(text.stdout).not.toContain(card.cardnumber);
  });

  test("card issue with --count and --prefix", async () => {
    const { value } = await json("card", "issue", "--balance", "100", "--count", "20", "--prefix", "77");
    expect(value).toHaveLength(20);
    expect(new Set(value.map((card: { cardnumber: string }) => card.cardnumber)).size).toBe(20);
    for (const card of value) expect(card.cardnumber).toMatch(/^77\d{17}$/);
  });

  test("card issue with a past date and 0 cents, which are accepted with a warning", async () => {
    const past = await json("card", "issue", "--balance", "0", "--expires", "2020-01-01");
    expect(past.exitCode).toBe(0);
    expect(past.stderr).toMatch(/0 cents/);
    expect(past.stderr).toMatch(/2020-01-01 is in the past/);
    expect((await json("card", "show", past.value.cardnumber)).value.card_status).toBe("Expired");
  });

  test("provider create and list, and migrate", async () => {
    const made = await json("provider", "create", "--name", "Kaartbureau");
    expect(made.value).toEqual({ id: expect.any(Number), name: "Kaartbureau" });
    expect((await json("provider", "list")).value).toEqual([made.value]);
    expect((await json("provider", "create", "--name", "Kaartbureau")).exitCode).toBe(4);
    expect((await json("migrate")).value).toEqual({ applied: [] });
  });
});

describe("standard input or the environment", () => {
  test("can provide a password", async () => {
    const args = ["company", "create", "--name", "A", "--json"];
    const byInput = await runCommand([...args, "--email", "in@example.nl", "--password-stdin"], env, "geheim\n");
    expect(byInput.exitCode).toBe(0);
    const byEnv = await runCommand([...args, "--email", "env@example.nl"], {
      ...env,
      GIFTCARD_PASSWORD: "geheim",
    });
    expect(byEnv.exitCode).toBe(0);
    expect((await runCommand([...args, "--email", "none@example.nl"], env)).exitCode).toBe(2);
  });

  test("can provide a card number and a database address", async () => {
    const { value: card } = await json("card", "issue", "--balance", "1");
    const byInput = await runCommand(["card", "show", "-", "--json"], env, `${card.cardnumber}\n`);
    expect(JSON.parse(byInput.stdout).card_status).toBe("Active");
    const byEnv = await runCommand(["card", "show", "--json"], {
      ...env,
      GIFTCARD_CARDNUMBER: card.cardnumber,
    });
    expect(JSON.parse(byEnv.stdout).card_status).toBe("Active");
    const { GIFTCARD_DATABASE_URL: url, ...rest } = env;
    const both = await runCommand(
      ["card", "show", "-", "--json", "--database-url", "-"],
      rest,
      `${card.cardnumber}\n${url}\n`,
    );
    expect(JSON.parse(both.stdout).card_status).toBe("Active");
  });
});

describe("a command that fails", () => {
  test.each([
    { args: ["card", "show", "9528000000000000000"], exitCode: 3, message: /no card/ },
    { args: ["card", "show"], exitCode: 2, message: /GIFTCARD_CARDNUMBER/ },
    { args: ["card", "show", "--card", "2000000000"], exitCode: 3, message: /no card with this id/ },
    { args: ["card", "show", "1", "--card", "1"], exitCode: 2, message: /Name one card/ },
    { args: ["card", "block", "1"], exitCode: 2, message: /--reason/ },
    {
      args: ["card", "block", "1", "--reason", "found 9528 1234 5678 9012 345"],
      exitCode: 2,
      message: /Leave that out/,
    },
    { args: ["transactions"], exitCode: 2, message: /Give at least one of/ },
    { args: ["transactions", "--company", "1", "--csv"], exitCode: 2, message: /not both/ },
    {
      args: ["report", "--from", "2026-02-01", "--to", "2026-01-01"],
      exitCode: 2,
      message: /--to is before --from/,
    },
    {
      args: ["transactions", "--from", "2026-02-01", "--to", "2026-01-01"],
      exitCode: 2,
      message: /before --from/,
    },
    { args: ["audit", "--from", "2026-02-01", "--to", "2026-01-01"], exitCode: 2, message: /before --from/ },
    {
      args: ["report", "--from", "2026-01-01", "--to", "2026-02-01", "--company", "77"],
      exitCode: 3,
      message: /no company with this id. `company list`/,
    },
    { args: ["reversals", "--json", "--csv"], exitCode: 2, message: /not both/ },
    { args: ["reversals", "--from", "2026-02-01", "--to", "2026-01-01"], exitCode: 2, message: /before --from/ },
    { args: ["reversals", "--company", "77"], exitCode: 3, message: /no company with this id/ },
    { args: ["transactions", "--company", "77"], exitCode: 3, message: /no company with this id/ },
    { args: ["transactions", "--card", "77777"], exitCode: 3, message: /no card with this id/ },
    { args: ["audit", "--company", "77"], exitCode: 3, message: /no company with this id/ },
    { args: ["audit", "--card", "77777"], exitCode: 3, message: /no card with this id/ },
    { args: ["key", "list", "--company", "77"], exitCode: 3, message: /no company with this id/ },
    { args: ["liability", "--csv"], exitCode: 2, message: /not both/ },
    { args: ["liability", "--from", "2026-01-01"], exitCode: 2, message: /--from and --to, or --at/ },
    { args: ["liability", "--at", "2999-01-01"], exitCode: 2, message: /not in the future/ },
    {
      args: ["liability", "--from", "2026-02-01", "--to", "2026-01-01"],
      exitCode: 2,
      message: /--to is before --from/,
    },
    { args: ["expire", "--before", "2999-01-01", "--reason", "x"], exitCode: 2, message: /not in the future/ },
    { args: ["expire", "--before", "2020-01-01"], exitCode: 2, message: /--reason/ },
    { args: ["liability", "--by", "week"], exitCode: 2, message: /day, month, year/ },
    { args: ["audit", "--from", "yesterday"], exitCode: 2, message: /yyyy-mm-dd/ },
    { args: ["card", "adjust", "1", "--by", "0", "--reason", "x"], exitCode: 2, message: /whole cents/ },
    { args: ["card", "adjust", "1", "--by", "5"], exitCode: 2, message: /--reason/ },
    { args: ["card", "extend", "1", "--reason", "x"], exitCode: 2, message: /--expires/ },
    { args: ["card", "unlock", "--reason", "x"], exitCode: 2, message: /GIFTCARD_CARDNUMBER/ },
    { args: ["card", "issue"], exitCode: 2, message: /--balance/ },
    {
      args: ["card", "issue", "--balance", "12.50"],
      exitCode: 2,
      message: /whole cents from 0 to \d+: 25\.00 is 2500/,
    },
    { args: ["card", "issue", "--balance", "-1"], exitCode: 2, message: /whole cents/ },
    { args: ["card", "issue", "--balance", "1", "--expires", "2027-02-30"], exitCode: 2, message: /yyyy-mm-dd/ },
    { args: ["card", "issue", "--balance", "1", "--prefix", "12345"], exitCode: 2, message: /at most 4 digits/ },
    { args: ["company", "create", "--name", "A", "--email", "nobody"], exitCode: 2, message: /email/ },
    { args: ["serve", "--port", "70000"], exitCode: 2, message: /65535/ },
    { args: ["serve", "--environment", "test"], exitCode: 2, message: /live, sandbox/ },
    { args: ["serve", "--host", "203.0.113.1"], exitCode: 1, message: /Cannot listen/ },
    { args: ["serve", "--calls-per-minute", "-1"], exitCode: 2, message: /whole number/ },
    { args: ["serve", "--pin-failures", "0"], exitCode: 2, message: /from 1 to 1000/ },
    { args: ["key", "revoke", "1", "2", "--reason", "x"], exitCode: 2, message: /too many arguments/ },
    { args: ["nonsense"], exitCode: 2, message: /unknown command/ },
    { args: ["card", "list"], exitCode: 2, message: /unknown command/ },
  ])("exits with $exitCode, and explains what to do: $args", async ({ args, exitCode, message }) => {
    const answer = await json(...args);
    expect([answer.exitCode, answer.value.exit_code]).toEqual([exitCode, exitCode]);
    expect(answer.stderr).toMatch(message);
    expect(answer.value.error).toMatch(message);
  });

  test("exits with 5 if the database is unreachable, without showing its password", async () => {
    const url = "postgres://someone:sesame@127.0.0.1:1/nowhere";
    const { exitCode, stdout, stderr } = await runCommand(["company", "list"], {
      ...env,
      GIFTCARD_DATABASE_URL: url,
    });
    expect(exitCode).toBe(5);
    expect(stdout + stderr).not.toContain("sesame");
    const invalid = await runCommand(["company", "list"], { ...env, GIFTCARD_DATABASE_URL: "http://sesame" });
    expect(invalid.exitCode).not.toBe(0);
    expect(invalid.stdout + invalid.stderr).not.toContain("sesame");
  });

  test("explains an error of the database, and what to do", async () => {
    const db = new pg.Client({ connectionString: await testDatabase() });
    await db.connect();
    try {
      const role = `clerk_${randomUUID().replaceAll("-", "")}`;
      await db.query(`create role ${role} login password 'sesame'`);
      const url = new URL(env.GIFTCARD_DATABASE_URL as string);
      url.pathname = `/${db.database}`;
      const migrateAs = (user: string, database = url.pathname) => {
        const address = Object.assign(new URL(url), {
          username: user,
          password: "sesame",
          pathname: database,
        });
        return runCommand(["migrate"], { ...env, GIFTCARD_DATABASE_URL: address.href });
      };
      const expectFailure = async (ended: ReturnType<typeof migrateAs>, exitCode: number, words: RegExp) => {
        const { exitCode: code, stderr } = await ended;
        expect([code, stderr]).toEqual([exitCode, expect.stringMatching(words)]);
        expect(stderr).not.toContain("sesame");
      };
      await expectFailure(
        migrateAs(role),
        1,
        /\(42501\)\. The user in its address lacks the permission\. Make that user the owner/,
      );
      await expectFailure(migrateAs(role, "/nowhere"), 5, /\(3D000\)\. It has no database with the name/);
      await expectFailure(migrateAs("nobody_here"), 5, /\(28...\)\. It rejects the user or the password/);
      await db.query(`alter role ${role} connection limit 0`);
      await expectFailure(migrateAs(role), 5, /\(53300\)\. Its disk is full, or it lacks/);
      await db.query(`drop role ${role}`);
    } finally {
      await db.end();
    }
  });

  test("names a file that can't be used, and the reason", async () => {
    const nowhere = path.join(folder, "nowhere", "cards.csv");
    const { exitCode, stderr } = await run("card", "issue", "--balance", "1", "--out", nowhere);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${nowhere}.partial cannot be created (ENOENT)`)]);
    const secrets = { ...env, GIFTCARD_SECRETS_FILE: path.join(folder, "nowhere", "secrets.json") };
    const fresh = { ...secrets, GIFTCARD_DATABASE_URL: await testDatabase() };
    await runCommand(["migrate"], fresh);
    const unmade = await runCommand(["card", "issue", "--balance", "1"], fresh);
    expect([unmade.exitCode, unmade.stderr]).toEqual([6, expect.stringContaining("Create its folder")]);
  });

  test("exits with 7 if the database has no tables, until migrate creates them", async () => {
    const fresh = { ...env, GIFTCARD_DATABASE_URL: await testDatabase() };
    const refused = await runCommand(["company", "list"], fresh);
    expect([refused.exitCode, refused.stderr]).toEqual([7, expect.stringMatching(/giftcard-service migrate/)]);
    const migrated = await runCommand(["migrate", "--json"], fresh);
    expect(JSON.parse(migrated.stdout).applied).toContain("0001-initial");
    expect((await runCommand(["company", "list"], fresh)).exitCode).toBe(0);
  });
});

describe("the secrets file", () => {
  test("must exist, belong to the database, be complete, and be readable by its owner alone: otherwise commands exit with 6", async () => {
    expect((await run("card", "issue", "--balance", "1")).exitCode).toBe(0);
    const file = env.GIFTCARD_SECRETS_FILE as string;
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const secrets = JSON.parse(fs.readFileSync(file, "utf8"));
    const variants = {
      "other.json": JSON.stringify({ ...secrets, pin: Buffer.alloc(32, 1).toString("base64url") }),
      "damaged.json": "{}",
      "missing.json": undefined,
      "open.json": JSON.stringify(secrets),
    };
    for (const [name, text] of Object.entries(variants)) {
      const other = path.join(folder, name);
      if (text !== undefined) fs.writeFileSync(other, text, { mode: name === "open.json" ? 0o644 : 0o600 });
      for (const args of [
        ["serve", "--port", "0"],
        ["card", "issue", "--balance", "1"],
      ]) {
        const { exitCode, stderr, stdout } = await runCommand(args, { ...env, GIFTCARD_SECRETS_FILE: other });
        expect([name, exitCode]).toEqual([name, 6]);
        expect(stderr).toContain(name);
        for (const key of Object.values(secrets)) expect(stdout + stderr).not.toContain(key);
      }
    }
    expect(fs.existsSync(path.join(folder, "missing.json"))).toBe(false);
  });

  test("must be named if --database-url is given", async () => {
    const { exitCode, stderr } = await runCommand(["serve"], { ...env, GIFTCARD_SECRETS_FILE: "" });
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/GIFTCARD_SECRETS_FILE/)]);
  });
});

test("an invalid command line refers to the help of the command", async () => {
  expect((await run("card", "list")).stderr).toContain("`giftcard-service card --help` lists its options.");
  expect((await run("card", "issue")).stderr).toContain("`giftcard-service card issue --help`");
});

test("the help lists a command's own options first, and marks the required ones", async () => {
  const { stdout } = await run("card", "issue", "--help");
  expect(stdout).toMatch(/--balance <cents>[^-]*\(required\)/);
  expect(stdout.indexOf("--balance")).toBeLessThan(stdout.indexOf("Options of most commands:"));
  expect(stdout.indexOf("Options of most commands:")).toBeLessThan(stdout.indexOf("--data-dir"));
});

test("the audit log and the liability can be printed as CSV for a spreadsheet", async () => {
  const label = 'shop, "2"';
  const made = await json("company", "create", "--name", "Csv BV", "--email", "csv@example.nl", "--password", "geheim");
  await run("key", "create", "--company", String(made.value.company_id), "--label", label);
  const audit = (await run("audit", "--company", String(made.value.company_id), "--csv")).stdout.split("\r\n");
  expect(audit[0]).toBe("id,at,operator,os_user,action,reason,card,last_four,batch,company_id,details");
  expect(audit[2]).toContain(`"{""key"":`);
  expect(audit).toHaveLength(4);
  await run("card", "issue", "--balance", "1234", "--expires", "2055-05-05");
  const { value } = await json("liability", "--by", "day");
  const rows = (await run("liability", "--by", "day", "--csv")).stdout.trimEnd().split("\r\n");
  expect(rows[0]).toBe("expires,cards,balance,expired_cards,expired_balance,blocked_cards,blocked_balance");
  expect(rows).toHaveLength(1 + value.periods.length);
  expect(rows).toContain('"2055-05-05",1,1234,0,0,0,0');
});

test("the value of issued cards is shown in euros", async () => {
  const issued = await run("card", "issue", "--balance", "2500", "--expires", "2055-05-05", "--inactive");
  expect(issued.stdout).toMatch(/card \d+, 25\.00 EUR once it is activated, expires 2055-05-05/);
  const file = path.join(folder, "issued.csv");
  const batch = await run(
    "card",
    "issue",
    "--balance",
    "2500",
    "--expires",
    "2055-05-05",
    "--count",
    "3",
    "--out",
    file,
  );
  expect(batch.stdout).toMatch(/3 cards in .*, batch \d+, each 25\.00 EUR, expires 2055-05-05/);
  expect((await run("audit")).stdout).toContain("balance 25.00 EUR");
});

test.each([[[]], [["serve"]], [["card", "issue"]]])("%j --help shows the usage, and exits with 0", async (words) => {
  const { exitCode, stdout } = await run(...words, "--help");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^Usage: /);
  expect(stdout).not.toContain(env.GIFTCARD_DATABASE_URL);
});

describe("every command", () => {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  const nameOf = (command: Command): string =>
    command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
  const commands = all(program()).map((command): [string, Command] => [nameOf(command), command]);

  test.each(commands)("describes itself, its options and its arguments: %s", (name, command) => {
    expect(command.helpInformation()).toContain(`Usage: ${name} `);
    expect(command.description()).not.toBe("");
    for (const { long, description } of command.options) expect(description, long).not.toBe("");
  });

  test("that uses the database has the common options", () => {
    const lacksOne = ({ commands: own, options }: Command) =>
      own.length === 0 && !["--database-url", "--json"].every((long) => options.some((option) => option.long === long));
    expect(commands.filter(([, command]) => lacksOne(command)).map(([name]) => name)).toEqual([
      "giftcard-service health",
    ]);
  });

  test("is added to program()", () => {
    const cli = path.resolve(import.meta.dirname, "../src/cli");
    const sources = fs.readdirSync(cli).map((file) => fs.readFileSync(path.join(cli, file), "utf8"));
    const declared = sources.flatMap((text) =>
      [...text.matchAll(/export (?:const|function) (\w+Command)\b/g)].map(([, name]) => name as string),
    );
    const added = fs.readFileSync(path.join(cli, "program.ts"), "utf8");
    expect(declared.filter((name) => !new RegExp(`[( ]${name}\\(`).test(added))).toEqual([]);
    expect(declared.length).toBeGreaterThan(15);
  });

  test("is documented in docs/service-commands.md", () => {
    const page = fs.readFileSync(path.resolve(import.meta.dirname, "../../../docs/service-commands.md"), "utf8");
    const runnable = commands.filter(([, { commands: own }]) => own.length === 0).map(([name]) => name);
    const missing = runnable.filter((name) => {
      const words = name.replace("giftcard-service ", "");
      return !new RegExp(`(\`|giftcard-service |\\/ )${words}[ \`]`).test(page);
    });
    expect(missing).toEqual([]);
    expect(runnable.length).toBeGreaterThan(30);
  });
});
