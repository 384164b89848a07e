import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../scripts/lib/process.mjs";

const { pickAccount } = await import("../../packages/service/dist/postgres/binaries.js");

const STARTS_WITHIN_MS = 10_000;

/** A PgBouncer in transaction mode in front of a server, for all of its databases. */
export interface PgBouncer {
  /** Its `host:port/` and the query for a database URL: see {@link throughDoor}. */
  readonly door: string;
  /** The size of its pool for each database: smaller than the pool of one service process. */
  readonly serverConnections: number;
  stop(): Promise<void>;
}

/** Returns the version of PgBouncer; undefined if it isn't installed. `PGBOUNCER` names another program. */
export function findPgBouncer(): string | undefined {
  try {
    const text = execFileSync(program(), ["--version"], { encoding: "utf8" });
    return /PgBouncer (\S+)/.exec(text)?.[1];
  } catch {
    return undefined;
  }
}

// Debian installs it in a folder that is only on root's PATH.
const program = () =>
  process.env.PGBOUNCER ?? (fs.existsSync("/usr/sbin/pgbouncer") ? "/usr/sbin/pgbouncer" : "pgbouncer");

/** @param keepsStatements keeps prepared statements and ignores our startup settings; requires version 1.21 */
export async function startPgBouncer(postgresUrl: string, { keepsStatements = false } = {}): Promise<PgBouncer> {
  const { hostname, port, username, password } = new URL(postgresUrl);
  const serverConnections = 8;
  const listenPort = await freePort();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-pgbouncer-"));
  const settings = [
    "[databases]",
    `* = host=${hostname} port=${port} user=${username} password=${password}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${listenPort}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${serverConnections}`,
    "max_client_conn = 1000",
    ...(keepsStatements
      ? [
          "max_prepared_statements = 100",
          "ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout",
        ]
      : []),
  ];
  const runAs = pickAccount(undefined, () => {});
  const file = path.join(folder, "pgbouncer.ini");
  fs.writeFileSync(file, `${settings.join("\n")}\n`, { mode: 0o600 });
  if (runAs.uid !== undefined && runAs.gid !== undefined)
    for (const one of [folder, file]) fs.chownSync(one, runAs.uid, runAs.gid);
  const child = spawn(program(), ["--quiet", file], {
    ...runAs,
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const endNow = () => void child.kill("SIGKILL");
  process.once("exit", endNow);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    process.removeListener("exit", endNow);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  for (const giveUpAt = Date.now() + STARTS_WITHIN_MS; !(await listens(listenPort)); await sleep(50)) {
    if (Date.now() < giveUpAt && child.exitCode === null) continue;
    await stop();
    throw new Error(`PgBouncer did not start:\n${said}`);
  }
  const query = keepsStatements ? "" : "?pgbouncer=true";
  return { door: `127.0.0.1:${listenPort}/${query}`, serverConnections, stop };
}

/** Returns whether this version supports `max_prepared_statements`: 1.21 and newer do. */
export function canKeepStatements(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 1 || minor >= 21;
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
