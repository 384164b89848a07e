import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import type { Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exitCodes, OperatorError } from "../operator-error.js";
import { findBinaries, pickAccount } from "./binaries.js";
import { type OwnerRole, readOwner, releaseOwnership, takeOwnership } from "./owner-lock.js";
import { clusterDir, initCluster, logFile, readStatus, startServer, stopServer } from "./server.js";

/** A running built-in database. */
export interface EmbeddedPostgres {
  /** The address. It holds the password: never print it. */
  readonly url: string;
  /** Whether this process started it. */
  readonly owned: boolean;
  /** Rejects with an {@link OperatorError} if the server ends unexpectedly. Never settles for another process's server. */
  readonly lost: Promise<never>;
  /** Stops the server if this process started it. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly role: OwnerRole;
  /** Whether to fail without a database, instead of creating one in a mistyped folder. */
  readonly mustExist?: boolean;
  /** As root: the account that runs the database. */
  readonly dbUser?: string | undefined;
  readonly warn?: (message: string) => void;
}

const WAIT_FOR_OTHER_MS = 30_000;
const DATABASE = "postgres";
const never = new Promise<never>(() => {});

/**
 * Opens the database of a data directory: joins the server that a service runs there, or starts it.
 *
 * @throws {OperatorError} if there is no database but one must exist, it cannot be started, or two services want to own it
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  if (options.mustExist && !fs.existsSync(clusterDir(dataDir)) && !readOwner(dataDir)) {
    throw new OperatorError(
      `There is no database in ${dataDir}. Set its folder with --data-dir or GIFTCARD_DATA_DIR. ` +
        "`giftcard-service serve` creates a new one.",
      exitCodes.databaseUnreachable,
    );
  }
  prepare(dataDir);
  for (const giveUpAt = Date.now() + WAIT_FOR_OTHER_MS; Date.now() < giveUpAt; await sleep(50)) {
    if (takeOwnership(dataDir, options.role)) return own(dataDir, options, true);
    const owner = readOwner(dataDir);
    // Wait for a command, which ends soon, or for a process in another container, which may be dead.
    if (owner?.role !== "serve" || owner.isElsewhere) continue;
    if (options.role === "serve") {
      throw new OperatorError(
        `Process ${owner.pid} already serves from ${dataDir}. Stop it or use another --data-dir.`,
      );
    }
    const status = readStatus(dataDir);
    if (!status?.ready) continue;
    return { url: urlOf(status.port, readPassword(dataDir)), owned: false, lost: never, close: async () => {} };
  }
  throw new OperatorError(
    readOwner(dataDir)?.isElsewhere
      ? `A service or command in another container or on another machine uses ${dataDir}. Run this command there.`
      : `Another command uses ${dataDir}. Try again when it has ended.`,
  );
}

/** Starts a throwaway server in a temporary folder, without fsync. Its data is deleted on close. For tests and demos. */
export async function startThrowawayPostgres(): Promise<EmbeddedPostgres> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-throwaway-"));
  const remove = () => removePersistently(dataDir);
  prepare(dataDir);
  takeOwnership(dataDir, "serve");
  const watcher = startWatcher(dataDir);
  const server = await own(dataDir, { dataDir, role: "serve" }, false);
  // A process that ends without closing deletes the folder too. The server was signaled before.
  process.once("exit", remove);
  const close = async () => {
    await server.close();
    watcher.kill("SIGKILL");
    process.removeListener("exit", remove);
    remove();
  };
  return { ...server, close };
}

/** Starts a process that stops the server and deletes its folder if this process is killed. */
function startWatcher(dataDir: string): ChildProcess {
  const program = path.join(import.meta.dirname, "throwaway-watcher.js");
  const watcher = spawn(process.execPath, [program, dataDir], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watcher.on("error", () => {});
  watcher.unref();
  (watcher.stdin as Socket | null)?.unref();
  return watcher;
}

/** Removes a folder that an ending server still uses. `rmSync` fails, or stops silently, if files change meanwhile. */
function removePersistently(folder: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; attempt < 100 && fs.existsSync(folder); attempt++) {
    if (attempt > 0) Atomics.wait(pause, 0, 0, 20);
    try {
      fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      // The server wrote a new file: retry.
    }
  }
}

function prepare(dataDir: string): void {
  try {
    fs.mkdirSync(dataDir, { recursive: true });
    // The database's account may pass through the folder, but nobody may list it. Each file has its own mode.
    fs.chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `The data directory ${dataDir} cannot be created, or belongs to another account (${code}). Choose another with --data-dir.`,
      exitCodes.databaseUnreachable,
    );
  }
}

async function own(dataDir: string, options: EmbeddedOptions, durable: boolean): Promise<EmbeddedPostgres> {
  try {
    const runAs = pickAccount(options.dbUser, options.warn ?? (() => {}));
    // Stops a server whose owner was killed, so that there is one owner and one log.
    const orphan = readStatus(dataDir);
    if (orphan) await stopServer(dataDir, orphan.pid);
    const binaries = await findBinaries(runAs);
    const serverOptions = { dataDir, binDir: binaries.binDir, runAs, durable };
    if (!fs.existsSync(clusterDir(dataDir))) {
      await initCluster(serverOptions, makePassword(dataDir));
      options.warn?.(`there was no database in ${dataDir}, so a new one was created`);
    }
    const { child, port } = await startServer(serverOptions);
    child.unref();
    const onExit = () => child.kill("SIGINT");
    process.once("exit", onExit);
    let closing: Promise<void> | undefined;
    const lost = new Promise<never>((_resolve, reject) => {
      child.once("exit", () => {
        if (!closing) reject(serverLost(dataDir));
      });
    });
    // Not everybody awaits it: the next statement fails too.
    lost.catch(() => {});
    const close = async () => {
      await stopServer(dataDir, child.pid as number);
      process.removeListener("exit", onExit);
      if (binaries.temporaryDir) fs.rmSync(binaries.temporaryDir, { recursive: true, force: true });
      releaseOwnership(dataDir);
    };
    const url = urlOf(port, readPassword(dataDir));
    return { url, owned: true, lost, close: () => (closing ??= close()) };
  } catch (error) {
    releaseOwnership(dataDir);
    throw error;
  }
}

const serverLost = (dataDir: string) =>
  new OperatorError(
    `The built-in database has ended. Its log ${logFile(dataDir)} says why. Start the service again: no answered call is lost.`,
    exitCodes.databaseUnreachable,
  );

const passwordFile = (dataDir: string) => path.join(dataDir, "postgres.password");

function makePassword(dataDir: string): string {
  const password = randomBytes(24).toString("base64url");
  fs.writeFileSync(passwordFile(dataDir), password, { mode: 0o600, flush: true });
  return password;
}

function readPassword(dataDir: string): string {
  try {
    return fs.readFileSync(passwordFile(dataDir), "utf8").trim();
  } catch {
    throw new OperatorError(`The password of the built-in database is missing. Restore ${passwordFile(dataDir)}.`);
  }
}

/** The server has no TLS. Without `sslmode=disable`, a PGSSLMODE in the environment would demand it. */
const urlOf = (port: number, password: string) =>
  `postgres://postgres:${password}@127.0.0.1:${port}/${DATABASE}?sslmode=disable`;
