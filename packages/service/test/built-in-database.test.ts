import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand, type ServeProcess, spawnServe } from "../../../test/support/service.js";
import { isRunning } from "../src/postgres/processes.js";
import { call, credentials } from "./wire.js";

// mkdtemp creates a folder that only its owner can enter. If run as root, this also tests a data directory inside such a
// home directory.
let folder: string;
let dataDir: string;
let running: ServeProcess[] = [];

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-built-in-"));
  dataDir = path.join(folder, "giftcard-data");
});

afterEach(async () => {
  for (const server of running) await server.stop();
  running = [];
  fs.rmSync(folder, { recursive: true });
});

async function serve(...args: string[]): Promise<ServeProcess> {
  const server = await spawnServe(["--data-dir", dataDir, ...args]);
  running.push(server);
  return server;
}

async function command(...args: string[]) {
  const { exitCode, stdout, stderr } = await runCommand([...args, "--data-dir", dataDir, "--json"]);
  if (exitCode !== 0) throw new Error(`ended with ${exitCode}: ${stderr}`);
  return JSON.parse(stdout);
}

const postmaster = () => fs.readFileSync(path.join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n");
async function createShop() {
  const password = ["--password", "geheim"];
  const shop = await command("company", "create", "--name", "A", "--email", "a@example.nl", ...password);
  const card = await command("card", "issue", "--balance", "7500");
  const company = { companyId: shop.company_id, apiKey: shop.apikey, email: "", password: "" };
  return { company, wire: { ...credentials(company), cardnumber: card.cardnumber, pin: card.pin } };
}

test("commands reach the built-in database even if PGSSLMODE is set", { tags: "long" }, async () => {
  const shell = { PGSSLMODE: "prefer" };
  const server = await spawnServe(["--data-dir", dataDir], shell);
  running.push(server);
  const listed = await runCommand(["company", "list", "--data-dir", dataDir, "--json"], shell);
  expect(listed).toMatchObject({ exitCode: 0, stderr: "" });
});

test("commands connect to the database of a running service, and leave it running", { tags: "long" }, async () => {
  const server = await serve();
  const [pid] = postmaster();
  const { wire } = await createShop();
  expect((await call(server.url, "devalue", { ...wire, amount: 100 })).body.amount_deducted).toBe(100);
  expect((await command("card", "show", wire.cardnumber)).balance).toBe(7400);
  expect(postmaster()[0]).toBe(pid);
  const second = await runCommand(["serve", "--port", "0", "--data-dir", dataDir]);
  expect([second.exitCode, second.stderr]).toEqual([1, expect.stringMatching(/already serves/)]);
  expect((await call(server.url, "balance", wire)).body.balance).toBe(7400);
});

test("serve creates nothing if its port is taken", async () => {
  const other = net.createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as net.AddressInfo;
  fs.mkdirSync(dataDir);
  const { exitCode, stderr } = await runCommand(["serve", "--port", String(port), "--data-dir", dataDir]);
  other.close();
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`Cannot listen on 127.0.0.1:${port} (EADDRINUSE)`)]);
  expect(fs.readdirSync(dataDir)).toEqual([]);
});

test("on SIGTERM, serve answers the calls in progress, stops the database, and exits with 0", {
  tags: "long",
}, async () => {
  const server = await serve();
  const { wire } = await createShop();
  const [pid, , , port] = postmaster();
  const password = fs.readFileSync(path.join(dataDir, "postgres.password"), "utf8");
  const db = new pg.Client({ host: "127.0.0.1", port: Number(port), user: "postgres", password });
  await db.connect();
  await db.query("begin");
  await db.query("select from cards for update");
  const inFlight = call(server.url, "devalue", { ...wire, amount: 100 });
  await expect
    .poll(async () => (await db.query("select count(*)::int as n from pg_locks where not granted")).rows[0].n)
    .toBe(1);
  const ended = server.stop();
  // Continuous calls must not keep their connection open. They use no card: a call on that card would wait for the devalue.
  await expect
    .poll(
      () =>
        fetch(`${server.url}/healthz`).then(
          () => "answers",
          () => "closed",
        ),
      { interval: 1 },
    )
    .toBe("closed");
  await db.query("commit");
  await db.end();
  expect((await inFlight).body.amount_deducted).toBe(100);
  expect(await ended).toBe(0);
  expect(isRunning(Number(pid))).toBe(false);
  expect(fs.existsSync(path.join(dataDir, "owner.json"))).toBe(false);
  running = [];
});

test("after kill -9 the next start recovers every cent, and stops the orphaned database", async () => {
  const first = await serve();
  const { company, wire } = await createShop();
  const { body } = await call(first.url, "devalue", { ...wire, amount: 1000 });
  await first.kill();
  running = [];
  const orphan = Number(postmaster()[0]);
  expect(isRunning(orphan)).toBe(true);

  const next = await serve();
  expect(isRunning(orphan)).toBe(false);
  expect((await call(next.url, "balance", wire)).body.balance).toBe(6500);
  const canceled = await call(next.url, "cancelDevalue", {
    ...credentials(company),
    cancel_token: body.cancel_token,
  });
  expect(canceled.body.card_new_balance).toBe(7500);
});

test("after kill -9 of both the database and the service, the next start recovers every cent", {
  tags: "long",
}, async () => {
  const first = await serve();
  const { wire } = await createShop();
  await call(first.url, "devalue", { ...wire, amount: 1000 });
  process.kill(Number(postmaster()[0]), "SIGKILL");
  await first.kill();
  running = [];
  const next = await serve();
  expect((await call(next.url, "balance", wire)).body.balance).toBe(6500);
});

test("serve exits with 5 and the reason if its database dies", { tags: "long" }, async () => {
  const server = await serve();
  process.kill(Number(postmaster()[0]), "SIGKILL");
  await expect.poll(() => isRunning(server.pid)).toBe(false);
  expect(await server.stop()).toBe(5);
  expect(server.logs()).toContain("The built-in database has ended.");
  expect(fs.existsSync(path.join(dataDir, "owner.json"))).toBe(false);
  const { wire } = await createShop();
  const next = await serve();
  expect((await call(next.url, "balance", wire)).body.balance).toBe(7500);
});

test("only serve and migrate create a new database; other commands report the folder and create nothing", {
  tags: "long",
}, async () => {
  for (const words of [["check"], ["company", "list"], ["card", "issue", "--balance", "1"]]) {
    const { exitCode, stderr } = await runCommand([...words, "--data-dir", dataDir]);
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining(`There is no database in ${dataDir}.`)]);
  }
  expect(fs.existsSync(dataDir)).toBe(false);
  const server = await serve();
  expect(server.logs()).toContain(`there was no database in ${dataDir}, so a new one was created`);
  expect(server.logs()).toContain(`new secrets were created in ${path.join(dataDir, "secrets.json")}`);
  expect(await server.stop()).toBe(0);
  expect((await serve()).logs()).not.toContain("new");
});

test("serve reports the path of a data directory that can't be created", { tags: "long" }, async () => {
  fs.writeFileSync(dataDir, "a file");
  const { exitCode, stderr } = await runCommand(["serve", "--port", "0", "--data-dir", dataDir]);
  expect([exitCode, stderr]).toEqual([5, expect.stringContaining(`The data directory ${dataDir} cannot be created`)]);
});

test("concurrent commands without a service wait for each other", { tags: "long" }, async () => {
  await command("migrate");
  const names = ["een", "twee", "drie", "vier"];
  await Promise.all(names.map((name) => command("provider", "create", "--name", name)));
  const listed = (await command("provider", "list")) as { name: string }[];
  expect(listed.map((provider) => provider.name).sort()).toEqual([...names].sort());
});

test("the database requires its password, listens only on loopback, and syncs to disk", async () => {
  await serve();
  const port = Number(postmaster()[3]);
  expect(postmaster()[5]).toBe("127.0.0.1");
  for (const password of ["", "postgres", "geheim"]) {
    const db = new pg.Client({ host: "127.0.0.1", port, user: "postgres", password });
    await expect(db.connect()).rejects.toThrow();
  }
  const file = path.join(dataDir, "postgres.password");
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  const db = new pg.Client({
    host: "127.0.0.1",
    port,
    user: "postgres",
    password: fs.readFileSync(file, "utf8"),
  });
  await db.connect();
  const { rows } =
    await db.query(`select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
    current_setting('full_page_writes') as pages, (select count(*)::int from pg_hba_file_rules where auth_method = 'trust') as trusted`);
  await db.end();
  expect(rows[0]).toEqual({ fsync: "on", commit: "on", pages: "on", trusted: 0 });
});
