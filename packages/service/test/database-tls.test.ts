// @module-tag long

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { startThrowawayPostgres } from "@giftcard-pay/service";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { runCommand } from "../../../test/support/service.js";
import { openPool } from "../src/database/database.js";

let server: Awaited<ReturnType<typeof startThrowawayPostgres>>;
let address: URL;
let pools: pg.Pool[] = [];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-tls-"));

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

/** Returns the server's address with this host and these parameters. */
const addressOf = (host: string, query = "") =>
  `postgres://${address.username}:${address.password}@${host}/postgres?${query}`;
const localHost = () => `127.0.0.1:${address.port}`;
function poolOf(url: string, size?: number): pg.Pool {
  const pool = openPool(url, () => {}, size);
  pools.push(pool);
  return pool;
}
const applySetting = async (pool: pg.Pool, statement: string) => {
  await pool.query(statement);
  await pool.query("select pg_reload_conf()");
};

test("a wrong password is reported without the address", async () => {
  const url = addressOf(localHost()).replace(address.password, "sesame");
  const { exitCode, stdout, stderr } = await runCommand(["migrate"], { GIFTCARD_DATABASE_URL: url });
  expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/28P01.*user or the password/)]);
  expect(stdout + stderr).not.toContain("sesame");
});

const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
const hasOpenssl = (() => {
  try {
    return openssl("version").length > 0;
  } catch {
    return false;
  }
})();

// The certificates are created with `openssl`.
describe.skipIf(!hasOpenssl)("TLS", () => {
  const root = (name: string) => path.join(folder, `${name}.crt`);
  const usesTls = async (query: string, host = localHost()) => {
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
      openssl("req", "-x509", ...day, "-keyout", `${name}.key`, "-out", `${name}.crt`, "-subj", `/CN=${name}`);
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
    // If run as root, the server starts inside its folder, and reports a path that only its own processes can resolve.
    const cluster = rows[0].folder.replace("/proc/self/", `/proc/${rows[0].pid}/`);
    const { uid, gid } = fs.statSync(path.join(cluster, "PG_VERSION"));
    for (const name of ["server.key", "server.crt"]) {
      fs.copyFileSync(path.join(folder, name), path.join(cluster, name));
      fs.chownSync(path.join(cluster, name), uid, gid);
      fs.chmodSync(path.join(cluster, name), 0o600);
    }
    await applySetting(operator, "alter system set ssl = on");
    const isOn = async () => expect((await operator.query("show ssl")).rows[0].ssl).toBe("on");
    await vi.waitFor(isOn, 10_000);
  });

  test("is used as sslmode demands", async () => {
    const localhost = `localhost:${address.port}`;
    expect(await usesTls("sslmode=disable")).toBe(false);
    expect(await usesTls("sslmode=require")).toBe(true);
    expect(await usesTls(`sslmode=verify-ca&sslrootcert=${root("ours")}`)).toBe(true);
    expect(await usesTls(`sslmode=verify-full&sslrootcert=${root("ours")}`, localhost)).toBe(true);
  });

  test("rejects a certificate from another authority or for another name", async () => {
    const localhost = `localhost:${address.port}`;
    const unknown = /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/;
    expect(await refusal(`sslmode=require&sslrootcert=${root("theirs")}`)).toMatch(unknown);
    expect(await refusal(`sslmode=verify-ca&sslrootcert=${root("theirs")}`)).toMatch(unknown);
    expect(await refusal(`sslmode=verify-full&sslrootcert=${root("theirs")}`, localhost)).toMatch(unknown);
    expect(await refusal("sslmode=verify-full", localhost)).toMatch(unknown);
    expect(await refusal(`sslmode=verify-full&sslrootcert=${root("ours")}`)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  test("errors are reported by commands, without the password", async () => {
    const url = addressOf(localHost(), `sslmode=verify-ca&sslrootcert=${root("theirs")}`);
    const { exitCode, stdout, stderr } = await runCommand(["migrate"], { GIFTCARD_DATABASE_URL: url });
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/certificate/)]);
    expect(stdout + stderr).not.toContain(address.password);
  });
});
