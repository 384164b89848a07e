import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { startThrowawayPostgres } from "@giftcard-pay/service";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../../../scripts/process.mjs";
import { runCommand } from "../../../test/support/service.js";
import { openPool } from "../src/database.js";
import { openProbe } from "../src/readiness.js";

let server: Awaited<ReturnType<typeof startThrowawayPostgres>>;
let address: URL;
let pools: pg.Pool[] = [];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-hosts-"));

beforeAll(async () => {
  server = await startThrowawayPostgres();
  address = new URL(server.url);
});
afterEach(async () => {
  for (const pool of pools) await pool.end();
  pools = [];
});
afterAll(async () => {
  await server.close();
  fs.rmSync(folder, { recursive: true });
});

/** The server's address with these hosts and parameters. */
const addressOf = (hosts: string, query = "") =>
  `postgres://${address.username}:${address.password}@${hosts}/postgres?${query}`;
const here = () => `127.0.0.1:${address.port}`;
function poolOf(url: string, size?: number): pg.Pool {
  const pool = openPool(url, () => {}, size);
  pools.push(pool);
  return pool;
}
const pidOf = async (pool: pg.Pool) => (await pool.query("select pg_backend_pid() as pid")).rows[0].pid;
const set = async (pool: pg.Pool, statement: string) => {
  await pool.query(statement);
  await pool.query("select pg_reload_conf()");
};

describe("several hosts", () => {
  test("one that nobody answers at is passed over, by the pool, the health checks and commands", async () => {
    const url = addressOf(`127.0.0.1:${await freePort()},${here()}`);
    const pool = poolOf(url);
    expect(await pidOf(pool)).toBeGreaterThan(0);
    const probe = openProbe(pool);
    pools.push(probe);
    expect(await pidOf(probe)).toBeGreaterThan(0);
    const { exitCode, stderr } = await runCommand(["migrate"], { GIFTCARD_DATABASE_URL: url });
    expect([exitCode, stderr]).toEqual([0, expect.anything()]);
  });

  test("one that takes connections and says nothing is passed over when the time is up", async () => {
    const silent = net.createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as net.AddressInfo;
    const pool = poolOf(addressOf(`127.0.0.1:${port},${here()}`));
    expect(await pidOf(pool)).toBeGreaterThan(0);
    await pool.end();
    pools = [];
    silent.close();
  });

  test("a wrong password is not tried at every host, and said without it", async () => {
    const url = addressOf(`${here()},127.0.0.1:${await freePort()}`).replace(address.password, "sesame");
    const { exitCode, stdout, stderr } = await runCommand(["migrate"], { GIFTCARD_DATABASE_URL: url });
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/28P01.*user or the password/)]);
    expect(stdout + stderr).not.toContain("sesame");
  });

  test("one that takes no more writes is given up with its connections, and used again when it takes them", async () => {
    const url = addressOf(`${here()},127.0.0.1:${await freePort()}`);
    const pool = poolOf(url);
    const operator = poolOf(addressOf(here()), 1);
    await pool.query("create table if not exists written (n integer)");
    const before = await pidOf(pool);
    await set(operator, "alter system set default_transaction_read_only = on");
    try {
      const write = () => pool.query("insert into written values (1)");
      await expect.poll(() => write().then(String, ({ code }) => code)).toBe("25006");
      const { exitCode, stderr } = await runCommand(["migrate"], { GIFTCARD_DATABASE_URL: url });
      expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/no host .* takes writes/i)]);
    } finally {
      await operator.query("set default_transaction_read_only = off");
      await set(operator, "alter system reset default_transaction_read_only");
    }
    await expect.poll(() => pidOf(pool).catch(() => undefined)).toBeGreaterThan(0);
    expect(await pidOf(pool)).not.toBe(before);
    await pool.query("insert into written values (1)");
  });
});

const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
const hasOpenssl = (() => {
  try {
    return openssl("version").length > 0;
  } catch {
    return false;
  }
})();

/** Without `openssl` nobody here can make a certificate. */
describe.skipIf(!hasOpenssl)("TLS", () => {
  const root = (name: string) => path.join(folder, `${name}.crt`);
  const usesTls = async (query: string, host = here()) => {
    const pool = poolOf(addressOf(host, query), 1);
    const { rows } = await pool.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
    return rows[0].ssl;
  };
  const refusal = (query: string, host?: string) =>
    usesTls(query, host).then(
      () => "none",
      ({ code, message }) => code ?? message,
    );

  beforeAll(async () => {
    const day = ["-nodes", "-days", "2", "-newkey", "rsa:2048"];
    for (const name of ["ours", "theirs"])
      openssl(
        "req",
        "-x509",
        ...day,
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.crt`,
        "-subj",
        `/CN=${name}`,
      );
    openssl(
      "req",
      ...day.filter((word) => word !== "-days" && word !== "2"),
      "-keyout",
      "server.key",
      "-out",
      "server.csr",
      "-subj",
      "/CN=db",
    );
    fs.writeFileSync(path.join(folder, "names"), "subjectAltName=DNS:localhost");
    const signing = ["-CA", "ours.crt", "-CAkey", "ours.key", "-CAcreateserial", "-days", "2"];
    openssl("x509", "-req", "-in", "server.csr", ...signing, "-extfile", "names", "-out", "server.crt");
    const operator = poolOf(server.url, 1);
    const { rows } = await operator.query(
      `select current_setting('data_directory') as folder, pid from pg_stat_activity where backend_type = 'checkpointer'`,
    );
    // As root it works from inside its folder, and calls that so.
    const cluster = rows[0].folder.replace("/proc/self/", `/proc/${rows[0].pid}/`);
    const { uid, gid } = fs.statSync(path.join(cluster, "PG_VERSION"));
    for (const name of ["server.key", "server.crt"]) {
      fs.copyFileSync(path.join(folder, name), path.join(cluster, name));
      fs.chownSync(path.join(cluster, name), uid, gid);
      fs.chmodSync(path.join(cluster, name), 0o600);
    }
    await set(operator, "alter system set ssl = on");
    const isOn = async () => expect((await operator.query("show ssl")).rows[0].ssl).toBe("on");
    await vi.waitFor(isOn, 10_000);
  });

  test("is used as sslmode says", async () => {
    const localhost = `localhost:${address.port}`;
    expect(await usesTls("sslmode=disable")).toBe(false);
    expect(await usesTls("sslmode=require")).toBe(true);
    expect(await usesTls(`sslmode=verify-ca&sslrootcert=${root("ours")}`)).toBe(true);
    expect(await usesTls(`sslmode=verify-full&sslrootcert=${root("ours")}`, localhost)).toBe(true);
  });

  test("a certificate of another authority, or for another name, is refused", async () => {
    const localhost = `localhost:${address.port}`;
    const unknown = /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/;
    expect(await refusal(`sslmode=require&sslrootcert=${root("theirs")}`)).toMatch(unknown);
    expect(await refusal(`sslmode=verify-ca&sslrootcert=${root("theirs")}`)).toMatch(unknown);
    expect(await refusal(`sslmode=verify-full&sslrootcert=${root("theirs")}`, localhost)).toMatch(unknown);
    expect(await refusal("sslmode=verify-full", localhost)).toMatch(unknown);
    expect(await refusal(`sslmode=verify-full&sslrootcert=${root("ours")}`)).toBe(
      "ERR_TLS_CERT_ALTNAME_INVALID",
    );
  });

  test("commands say of a refused certificate what it is, without the password", async () => {
    const url = addressOf(here(), `sslmode=verify-ca&sslrootcert=${root("theirs")}`);
    const { exitCode, stdout, stderr } = await runCommand(["migrate"], { GIFTCARD_DATABASE_URL: url });
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/certificate/)]);
    expect(stdout + stderr).not.toContain(address.password);
  });
});
