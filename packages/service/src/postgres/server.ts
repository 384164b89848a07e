import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exitCodes, OperatorError } from "../operator-error.js";
import { postgresEnv, type RunAs } from "./binaries.js";
import { isRunning } from "./processes.js";

interface ServerOptions {
  /** The data directory. It holds the cluster's folder `postgres`, and the log. */
  readonly dataDir: string;
  readonly binDir: string;
  readonly runAs: RunAs;
  /** False only for throwaway databases, which are not synced to disk. */
  readonly durable: boolean;
}

// A throwaway server has many small databases. Looking after each every minute costs more than it saves.
const NOT_DURABLE = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum_naptime=300"];

export const clusterDir = (dataDir: string) => path.join(dataDir, "postgres");
export const logFile = (dataDir: string) => path.join(dataDir, "postgres.log");

/**
 * Returns the cluster's path for a server that starts inside it. Root changes the folder before the account, so that the
 * data directory may be in a closed home directory, which the account cannot reach.
 */
const pathFromInside = (cluster: string, runAs: RunAs) =>
  runAs.uid !== undefined && process.platform === "linux" ? "/proc/self/cwd" : cluster;

/** Creates the cluster, with the superuser `postgres` and its password. An interrupted creation leaves no cluster. */
export async function initCluster(options: ServerOptions, password: string): Promise<void> {
  const { dataDir, binDir, runAs, durable } = options;
  const unfinished = `${clusterDir(dataDir)}.unfinished`;
  const passwordFile = path.join(dataDir, "postgres.initial");
  fs.rmSync(unfinished, { recursive: true, force: true });
  fs.rmSync(passwordFile, { force: true });
  fs.mkdirSync(unfinished, { mode: 0o700 });
  fs.writeFileSync(passwordFile, password, { mode: 0o600, flag: "wx" });
  if (runAs.uid !== undefined && runAs.gid !== undefined) {
    fs.chownSync(unfinished, runAs.uid, runAs.gid);
    fs.chownSync(passwordFile, runAs.uid, runAs.gid);
  }
  const args = ["-D", pathFromInside(unfinished, runAs), "-U", "postgres", "-A", "scram-sha-256"];
  args.push(`--pwfile=${path.join("..", path.basename(passwordFile))}`, "-E", "UTF8", "--locale=C");
  if (!durable) args.push("--no-sync");
  try {
    await run(path.join(binDir, "initdb"), args, unfinished, runAs);
  } finally {
    fs.rmSync(passwordFile, { force: true });
  }
  fs.renameSync(unfinished, clusterDir(dataDir));
}

function run(program: string, args: string[], cwd: string, runAs: RunAs): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...runAs, cwd, env: postgresEnv, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0
        ? resolve()
        : reject(new OperatorError(`${path.basename(program)} failed: ${output.trim().slice(-500)}`)),
    );
  });
}

/** Reads the server's status file; undefined if there is none, or its server is dead. */
export function readStatus(dataDir: string) {
  let lines: string[];
  try {
    lines = fs.readFileSync(path.join(clusterDir(dataDir), "postmaster.pid"), "utf8").split("\n");
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (!isServerOf(pid, clusterDir(dataDir))) return undefined;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
}

/** Returns whether the process is alive and uses this cluster, to detect a reused process id. */
function isServerOf(pid: number, cluster: string): boolean {
  if (!isRunning(pid)) return false;
  try {
    if (process.platform === "linux") return fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(cluster);
    if (process.platform === "win32") return true;
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).includes(cluster);
  } catch {
    return false;
  }
}

/** Starts the server on a free port of 127.0.0.1 and waits until it takes connections. */
export async function startServer(options: ServerOptions): Promise<{ child: ChildProcess; port: number }> {
  const { dataDir } = options;
  const giveUpAt = Date.now() + 60_000;
  while (Date.now() < giveUpAt) {
    const port = await freePort();
    const child = spawnServer(options, port);
    while (child.exitCode === null && child.signalCode === null && Date.now() < giveUpAt) {
      const status = readStatus(dataDir);
      // The file may be of a killed server, which in a container may have had the same process id.
      if (status?.pid === child.pid && status?.port === port && status.ready) return { child, port };
      await sleep(20);
    }
    // After a kill -9, processes of the old server may run for a moment, and the port may be taken meanwhile.
    await sleep(250);
    if (!/still in use|already in use|lock file/.test(logTail(dataDir))) break;
  }
  throw new OperatorError(
    `The database did not start. Its log ${logFile(dataDir)} ends with:\n${logTail(dataDir)}`,
    exitCodes.databaseUnreachable,
  );
}

const logTail = (dataDir: string) => fs.readFileSync(logFile(dataDir), "utf8").slice(-1500);

function spawnServer({ dataDir, binDir, runAs, durable }: ServerOptions, port: number): ChildProcess {
  const cluster = clusterDir(dataDir);
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_error_verbosity=terse", "jit=off"];
  if (!durable) settings.push(...NOT_DURABLE);
  const args = ["-D", pathFromInside(cluster, runAs), "-p", String(port), ...settings.flatMap((s) => ["-c", s])];
  // A file, not a pipe: a full pipe would block the server.
  const log = fs.openSync(logFile(dataDir), "a", 0o600);
  try {
    return spawn(path.join(binDir, "postgres"), args, {
      ...runAs,
      cwd: cluster,
      env: postgresEnv,
      stdio: ["ignore", log, log],
      // Its own process group, so that Ctrl-C does not stop the database before the service.
      detached: true,
    });
  } finally {
    fs.closeSync(log);
  }
}

/** Stops a server: it rolls back open transactions and syncs to disk. Waits until it has ended. */
export async function stopServer(dataDir: string, pid: number): Promise<void> {
  for (const [signal, patienceMs] of [
    ["SIGINT", 30_000],
    ["SIGQUIT", 10_000],
  ] as const) {
    if (!isServerOf(pid, clusterDir(dataDir))) return;
    process.kill(pid, signal);
    for (const giveUpAt = Date.now() + patienceMs; Date.now() < giveUpAt; await sleep(20)) {
      if (!isServerOf(pid, clusterDir(dataDir))) return;
    }
  }
  throw new OperatorError(`The database (process ${pid}) does not stop. See its log ${logFile(dataDir)}.`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
