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

/** A database that this process may use. */
export interface EmbeddedPostgres {
  /** Its address, password included: never print it. */
  readonly url: string;
  /** True when this process brought it up. */
  readonly owned: boolean;
  /** Fails with an {@link OperatorError} when the server ends by itself. Of one that belongs to another process, never. */
  readonly lost: Promise<never>;
  /** Stops the server if this process started it; a server that belongs to another process is left alone. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly role: OwnerRole;
  /** Makes no new database: a mistyped folder must not become one. */
  readonly mustExist?: boolean;
  /** As root: the account that runs the database. */
  readonly dbUser?: string | undefined;
  readonly warn?: (message: string) => void;
}

const WAIT_FOR_OTHER_MS = 30_000;
const DATABASE = "postgres";
const never = new Promise<never>(() => {});

/**
 * Opens the database of a data directory: attaches to the one that a service runs there, or brings it up.
 *
 * @throws {OperatorError} when there is none and one must be there, it cannot be started, or another service has it and
 *   this one wants to own it
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  if (options.mustExist && !fs.existsSync(clusterDir(dataDir)) && !readOwner(dataDir)) {
    throw new OperatorError(
      `There is no database in ${dataDir}. Name its folder with --data-dir or GIFTCARD_DATA_DIR; a new one is made by ` +
        "`giftcard-service serve`.",
      exitCodes.databaseUnreachable,
    );
  }
  prepare(dataDir);
  for (const giveUpAt = Date.now() + WAIT_FOR_OTHER_MS; Date.now() < giveUpAt; await sleep(50)) {
    if (takeOwnership(dataDir, options.role)) return own(dataDir, options, true);
    const owner = readOwner(dataDir);
    // A command, soon done; or somebody in another container, who may have died.
    if (owner?.role !== "serve" || owner.isElsewhere) continue;
    if (options.role === "serve") {
      throw new OperatorError(
        `Process ${owner.pid} already serves from ${dataDir}. Stop it or use another --data-dir.`,
      );
    }
    const status = readStatus(dataDir);
    if (status?.ready)
      return {
        url: urlOf(status.port, readPassword(dataDir)),
        owned: false,
        lost: never,
        close: async () => {},
      };
  }
  throw new OperatorError(
    readOwner(dataDir)?.isElsewhere
      ? `A service or command in another container, or on another machine, works on ${dataDir}. Run this one there.`
      : `Another command holds ${dataDir}. Try again when it has ended.`,
  );
}

/**
 * Starts a server in a new temporary folder, for tests and demos: nothing is synced, and all is gone when it closes.
 */
export async function startThrowawayPostgres(): Promise<EmbeddedPostgres> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-throwaway-"));
  const remove = () => removeLiving(dataDir);
  prepare(dataDir);
  takeOwnership(dataDir, "serve");
  const watcher = watchUs(dataDir);
  const server = await own(dataDir, { dataDir, role: "serve" }, false);
  // A process that ends without closing takes the folder along too; the server has been told to end by then.
  process.once("exit", remove);
  const close = async () => {
    await server.close();
    watcher.kill("SIGKILL");
    process.removeListener("exit", remove);
    remove();
  };
  return { ...server, close };
}

/** Ends the server and takes its folder away where this process is killed, and can't do so itself. */
function watchUs(dataDir: string): ChildProcess {
  const program = path.join(import.meta.dirname, "throwaway-watcher.js");
  const watcher = spawn(process.execPath, [program, dataDir], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.on("error", () => {});
  watcher.unref();
  (watcher.stdin as Socket | null)?.unref();
  return watcher;
}

/** Removes a folder in which a dying server still works: a file that goes meanwhile ends `rmSync` without a word. */
function removeLiving(folder: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; attempt < 100 && fs.existsSync(folder); attempt++) {
    if (attempt > 0) Atomics.wait(pause, 0, 0, 20);
    try {
      fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      // Something new in it; once more.
    }
  }
}

function prepare(dataDir: string): void {
  try {
    fs.mkdirSync(dataDir, { recursive: true });
    // The database's account walks through, and everybody else sees no list; each file in it has its own mode.
    fs.chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `The data directory ${dataDir} can't be made, or isn't this account's (${code}). Name another with --data-dir.`,
      exitCodes.databaseUnreachable,
    );
  }
}

async function own(dataDir: string, options: EmbeddedOptions, durable: boolean): Promise<EmbeddedPostgres> {
  try {
    const runAs = pickAccount(options.dbUser, options.warn ?? (() => {}));
    // A server that outlived a killed owner: end it in good order, so that there is one owner and one log.
    const orphan = readStatus(dataDir);
    if (orphan) await stopServer(dataDir, orphan.pid);
    const binaries = await findBinaries(dataDir, runAs);
    const serverOptions = { dataDir, binDir: binaries.binDir, runAs, durable };
    if (!fs.existsSync(clusterDir(dataDir))) {
      await initCluster(serverOptions, makePassword(dataDir));
      options.warn?.(`there was no database in ${dataDir}, so a new one was made`);
    }
    const { child, port } = await startServer(serverOptions);
    child.unref();
    const onExit = () => child.kill("SIGINT");
    process.once("exit", onExit);
    let closing: Promise<void> | undefined;
    const lost = new Promise<never>((_resolve, reject) => {
      child.once("exit", () => {
        if (!closing) reject(lostServer(dataDir));
      });
    });
    // Whoever doesn't ask meets it at its next statement.
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

const lostServer = (dataDir: string) =>
  new OperatorError(
    `The built-in database has ended. Its log, ${logFile(dataDir)}, says why. Start again: what was answered is there.`,
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
    throw new OperatorError(`The database's password is missing: restore ${passwordFile(dataDir)}.`);
  }
}

/** The server has no TLS. Without `sslmode` in the address, PGSSLMODE of the operator's shell would ask for it. */
const urlOf = (port: number, password: string) =>
  `postgres://postgres:${password}@127.0.0.1:${port}/${DATABASE}?sslmode=disable`;
