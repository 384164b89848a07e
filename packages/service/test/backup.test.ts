// @module-tag long

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, type ServeProcess, spawnServe } from "../../../test/support/service.js";
import { call, credentials } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-backup-"));
const dataDir = path.join(folder, "data");
const backup = path.join(folder, "backup");
const company = { companyId: 0, apiKey: "", email: "", password: "" };
let cards: { cardnumber: string; pin: string }[];
let server: ServeProcess;

const json = ({ stdout }: { stdout: string }) => JSON.parse(stdout);
const command = (where: string, ...args: string[]) => runCommand([...args, "--data-dir", where, "--json"]);

beforeAll(async () => {
  server = await spawnServe(["--data-dir", dataDir, "--calls-per-minute", "0", "--log-level", "warn"]);
  const shop = json(
    await command(dataDir, "company", "create", "--name", "A", "--email", "a@example.nl", "--password", "geheim"),
  );
  Object.assign(company, { companyId: shop.company_id, apiKey: shop.apikey });
  cards = json(await command(dataDir, "card", "issue", "--balance", "100000", "--count", "200"));
});
afterAll(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Devalues cards continuously until `stop` is called. `tokens` has the cancel tokens in the order of the answers. */
function load() {
  const tokens: string[] = [];
  let going = true;
  const caller = async (index: number) => {
    for (let n = index; going; n++) {
      const card = cards[n % cards.length] as { cardnumber: string; pin: string };
      const { body } = await call(server.url, "devalue", { ...credentials(company), ...card, amount: 7 });
      tokens.push(body.cancel_token);
    }
  };
  const running = Promise.all(Array.from({ length: 8 }, (_, index) => caller(index)));
  const stop = () => {
    going = false;
    return running;
  };
  return { tokens, stop };
}

test("a backup under load contains every devalue that was answered before it started, and a correct ledger", async () => {
  const calls = load();
  await expect.poll(() => calls.tokens.length).toBeGreaterThan(100);
  const before = [...calls.tokens];
  const made = await command(dataDir, "backup", "--to", backup);
  const during = calls.tokens.length - before.length;
  await calls.stop();
  expect([made.exitCode, made.stderr]).toEqual([0, expect.stringContaining("secrets file is not in the backup")]);
  expect(during).toBeGreaterThan(0);
  expect(fs.existsSync(path.join(backup, "secrets.json"))).toBe(false);
  expect(fs.existsSync(`${backup}.unfinished`)).toBe(false);

  const restored = path.join(folder, "restored");
  fs.mkdirSync(restored);
  fs.copyFileSync(path.join(dataDir, "secrets.json"), path.join(restored, "secrets.json"));
  expect((await command(restored, "restore", "--from", backup)).exitCode).toBe(0);
  expect(json(await command(restored, "check"))).toMatchObject({ ok: true, cards: 200 });
  const second = await spawnServe(["--data-dir", restored, "--calls-per-minute", "0"]);
  try {
    const cancels = before.map((cancel_token) =>
      call(second.url, "cancelDevalue", { ...credentials(company), cancel_token }),
    );
    expect((await Promise.all(cancels)).map(({ status }) => status)).toEqual(before.map(() => 200));
  } finally {
    await second.stop();
  }
});

test("restore fails without the right secrets, and leaves nothing behind", { tags: "long" }, async () => {
  const place = path.join(folder, "refused");
  fs.mkdirSync(place);
  const secrets = path.join(place, "secrets.json");
  expect((await command(place, "restore", "--from", backup)).exitCode).toBe(6);
  fs.copyFileSync(path.join(dataDir, "secrets.json"), secrets);
  const wrong = JSON.parse(fs.readFileSync(secrets, "utf8"));
  fs.writeFileSync(secrets, JSON.stringify({ ...wrong, pin: wrong.cardNumber }));
  const refused = await command(place, "restore", "--from", backup);
  expect([refused.exitCode, refused.stderr]).toEqual([6, expect.stringContaining("does not belong to this database")]);
  for (const name of ["postgres", "postgres.password"]) expect(fs.existsSync(path.join(place, name))).toBe(false);
});

test("backup and restore overwrite nothing, and restore rejects an incomplete backup", async () => {
  for (const words of [
    ["backup", "--to", backup],
    ["restore", "--from", backup],
  ]) {
    const { exitCode, stderr } = await command(dataDir, ...words);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining("already exists")]);
  }
  const below = path.join(folder, "a-file", "backup");
  fs.writeFileSync(path.dirname(below), "");
  const { exitCode, stderr } = await command(dataDir, "backup", "--to", below);
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/ENOTDIR: not a directory.*a-file.* Fix that/)]);
  const half = path.join(folder, "half");
  fs.cpSync(backup, half, { recursive: true });
  fs.rmSync(path.join(half, "backup.json"));
  expect((await command(path.join(folder, "new"), "restore", "--from", half)).stderr).toContain(
    "not a complete backup",
  );
});

test("the built-in database is recovered to a moment from a backup and its archived WAL", {
  tags: "long",
}, async () => {
  const [data, archive, base, recovered] = ["archiving", "archive", "base", "recovered"].map((name) =>
    path.join(folder, name),
  ) as [string, string, string, string];
  fs.chmodSync(folder, 0o711);
  fs.mkdirSync(archive);
  fs.chmodSync(archive, 0o777);
  const configure = (where: string, lines: readonly string[]) =>
    fs.appendFileSync(path.join(where, "postgres/postgresql.conf"), `${lines.join("\n")}\n`);
  await command(data, "migrate");
  configure(data, ["archive_mode = on", `archive_command = 'cp %p ${archive}/%f'`]);
  const archiving = await spawnServe(["--data-dir", data]);
  const issue = async () => json(await command(data, "card", "issue", "--balance", "1000")).card;
  await issue();
  expect((await command(data, "backup", "--to", base)).exitCode).toBe(0);
  await issue();
  const moment = new Date(Date.now() + 1).toISOString().replace("T", " ").replace("Z", "+00");
  await issue();
  // PostgreSQL archives the rest of its WAL when it stops.
  await archiving.stop();

  fs.mkdirSync(recovered);
  fs.copyFileSync(path.join(data, "secrets.json"), path.join(recovered, "secrets.json"));
  fs.copyFileSync(path.join(base, "postgres.password"), path.join(recovered, "postgres.password"));
  const cluster = path.join(recovered, "postgres");
  fs.cpSync(path.join(base, "postgres"), cluster, { recursive: true });
  configure(recovered, [
    ...["archive_mode = off", "hot_standby = off", "recovery_target_action = promote"],
    ...[`restore_command = 'cp ${archive}/%f %p'`, `recovery_target_time = '${moment}'`],
  ]);
  fs.writeFileSync(path.join(cluster, "recovery.signal"), "");
  fs.chmodSync(cluster, 0o700);
  const { uid, gid } = fs.statSync(path.join(data, "postgres"));
  if (process.getuid?.() === 0) execFileSync("chown", ["-R", `${uid}:${gid}`, cluster]);
  expect(json(await command(recovered, "check"))).toMatchObject({ ok: true, cards: 2, balance: 2000 });
});
