import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, type ServeProcess, spawnServe } from "../../../test/support/service.js";
import { basic, call, eventInput, type WireAnswer } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-redaction-"));
const dataDir = path.join(folder, "giftcard-data");
const password = "sentinel-wachtwoord-8d1f";
const idempotencyKey = "sentinel-key-77ac";
const answers: WireAnswer[] = [];
/** The secrets by name. The tests search all outputs for their values. */
const secrets: Record<string, string> = {
  password,
  wrongPassword: "sentinel-mis-51b0",
  wrongPin: "sentinel-pin-90aa",
};
let server: ServeProcess;
let outputs = "";

async function command(...args: string[]) {
  const { stdout, stderr } = await runCommand([...args, "--data-dir", dataDir, "--json"], {
    GIFTCARD_PASSWORD: password,
  });
  outputs += stderr;
  return JSON.parse(stdout);
}

function openDatabase(): pg.Client {
  const port = Number(fs.readFileSync(path.join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[3]);
  const own = fs.readFileSync(path.join(dataDir, "postgres.password"), "utf8");
  secrets.databasePassword = own;
  return new pg.Client({ host: "127.0.0.1", port, user: "postgres", password: own });
}

/** Sends known secrets in successful and failing calls of all operations. */
beforeAll(async () => {
  server = await spawnServe(["--data-dir", dataDir]);
  const { company_id, apikey } = await command("company", "create", "--name", "A", "--email", "a@example.nl");
  const { cardnumber, pin } = await command("card", "issue", "--balance", "7500");
  const provider = await command("provider", "create", "--name", "P");
  Object.assign(secrets, { apikey, cardnumber });
  // The PIN is left out: its six digits may occur anywhere by chance. The tests do search for its card number.
  const who = { apikey, company_id };
  const headers = { "Idempotency-Key": idempotencyKey };
  const ask = async (...args: Parameters<typeof call> extends [string, ...infer Rest] ? Rest : never) => {
    const answer = await call(server.url, ...args);
    return answer;
  };
  const login = await ask("authenticate", {}, { headers: basic("a@example.nl", password) });
  secrets.secondKey = login.body.apikey;
  const first = await ask("devalue", { ...who, cardnumber, pin, amount: 100 }, { headers });
  const replay = await ask("devalue", { ...who, cardnumber, pin, amount: 100 }, { headers });
  expect(replay.text).toBe(first.text);
  secrets.token = first.body.cancel_token;

  const wrong = { ...who, cardnumber, pin: secrets.wrongPin };
  answers.push(
    await ask("authenticate", {}, { headers: basic("a@example.nl", secrets.wrongPassword as string) }),
    await ask("balance", { ...who, cardnumber, pin }),
    await ask("balance", wrong),
    await ask("devalue", { ...wrong, amount: 1 }),
    await ask("devalue", { ...who, cardnumber, pin, amount: 101 }, { headers }),
    await ask("devalue", { ...who, cardnumber, pin, amount: "x" }),
    await ask("devalue", {}, { encoding: "json", raw: `{"cardnumber":"${cardnumber}","pin":"${pin}` }),
    await ask("cancelDevalue", { ...who, cancel_token: secrets.token }),
    await ask("cancelDevalue", { ...who, cancel_token: secrets.token }),
    await ask("createEvents", { apikey, events: [eventInput(provider.id), { event_name: 5 }] }),
    await ask("createEvents", { apikey, events: [eventInput(provider.id)] }, { headers }),
    await ask("listEvents", { apikey }),
    await ask("createEventConcept", { apikey, representative: "R", register: "R", eventprovider_id: 99 }),
    await ask("listEventConcepts", { apikey }),
    await ask("listProviders"),
  );
  outputs += JSON.stringify([await command("card", "show", cardnumber), await command("company", "list")]);
  // An internal error: its text, including PostgreSQL's message, must not be shown.
  const db = openDatabase();
  await db.connect();
  await db.query("alter table cards rename to cards_elsewhere");
  answers.push(
    await ask("balance", { ...who, cardnumber, pin }),
    await ask("devalue", { ...who, cardnumber, pin, amount: 1 }),
  );
  expect(answers.slice(-2).map((answer) => answer.status)).toEqual([500, 500]);
  await db.query("alter table cards_elsewhere rename to cards");
  await db.end();
});

afterAll(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Returns a secret as it is, in hexadecimal, and in base64. */
const spellings = (secret: string) => [
  secret,
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
];

function secretsIn(text: string | Buffer): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellings(secret).some((spelling) => text.includes(spelling)) ? [name] : [],
  );
}

test("no answer contains a secret, except those of authenticate and devalue", () => {
  for (const answer of answers) expect(secretsIn(answer.text + JSON.stringify([...answer.headers]))).toEqual([]);
});

test("no log and no output of a command contains a secret, and an error can be found by its request id", () => {
  const logs = server.logs();
  expect(secretsIn(logs + outputs)).toEqual([]);
  expect(logs).toContain(answers.at(-1)?.headers.get("x-request-id"));
  expect(logs).not.toContain("cards_elsewhere");
});

test("no table contains a secret", async () => {
  const db = openDatabase();
  await db.connect();
  const { rows: tables } = await db.query(
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  expect(tables.length).toBeGreaterThan(8);
  for (const { relname } of tables) {
    const { rows } = await db.query(`select t::text as line from ${db.escapeIdentifier(relname)} t`);
    expect([relname, rows.flatMap(({ line }) => secretsIn(line))]).toEqual([relname, []]);
    expect([relname, rows.some(({ line }) => line.includes(idempotencyKey))]).toEqual([relname, false]);
  }
  await db.end();
});

test("no file of the data directory contains a secret, except the two files that store them", async () => {
  await server.stop();
  const secretFiles = ["secrets.json", "postgres.password"].map((name) => path.join(dataDir, name));
  const files = fs
    .readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  expect(files.some((file) => file.includes("pg_wal"))).toBe(true);
  for (const file of files.filter((name) => !secretFiles.includes(name))) {
    expect([file, secretsIn(fs.readFileSync(file))]).toEqual([file, []]);
  }
  for (const file of secretFiles) expect(fs.statSync(file).mode & 0o777).toBe(0o600);
});
