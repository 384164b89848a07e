import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { recordTime } from "../../scripts/process/times.mjs";
import { startNode } from "../../scripts/process.mjs";
import { openServiceDesk, type ServiceDesk, type TestCard, type TestCompany } from "./service-desk.js";

export type { TestCard, TestCompany };

const PROGRAM = path.resolve(import.meta.dirname, "../../packages/service/bin/giftcard-service.js");
const READY_TIMEOUT_MS = 240_000;
/** A command that takes longer hangs, on any machine. */
const COMMAND_TIMEOUT_MS = 120_000;
/** For tests that run a dozen commands, each a process of its own: one that hangs is ended, and named, long before. */
export const MANY_COMMANDS_TIMEOUT_MS = 3 * COMMAND_TIMEOUT_MS;

type StartedProcess = Omit<Awaited<ReturnType<typeof startNode>>, "match">;

/** What a command of the service ended with. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real service in a process of its own, as an operator runs it. */
export interface TestService extends Omit<ServiceDesk, "close" | "setBlocked"> {
  readonly url: string;
  readonly pid: number;
  readonly databaseUrl: string;
  /** All that it has written so far, to both outputs. */
  logs(): string;
  /** Its metrics, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Ends it in good order, and gives its exit code. */
  stop(): Promise<number | null>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  /** Runs a command on the same database, and gives the value that it printed. */
  command(...args: string[]): Promise<unknown>;
}

export interface TestServiceOptions {
  readonly databaseUrl: string;
  readonly environment?: "live" | "sandbox";
  /** Kept by the caller, for a service that is started again on the same database; made when left out. */
  readonly secretsFile?: string;
  readonly args?: readonly string[];
}

/** A database's address by way of a PgBouncer: `host:port/`, and what else its address has to say. */
export function throughDoor(databaseUrl: string, door: string): string {
  const [url, way] = [new URL(databaseUrl), new URL(`postgres://${door}`)];
  url.host = way.host;
  url.search = way.search;
  return url.href;
}

/** What `npm run pgbouncer` has the service reach its database by. */
const DOOR = "GIFTCARD_TEST_DOOR";

/**
 * Runs the built command to its end.
 *
 * @throws when it hangs
 */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin = "",
): Promise<CommandResult> {
  const startedAt = performance.now();
  const running = promisify(execFile)(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
    timeout: COMMAND_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  running.child.stdin?.end(stdin);
  try {
    return { exitCode: 0, ...(await running) };
  } catch (error) {
    const { code, stdout, stderr, killed } = error as CommandFailure;
    if (killed) throw new Error(`giftcard-service ${args[0]} did not end, or wrote without end: ${stderr}`);
    return { exitCode: code, stdout, stderr };
  } finally {
    recordTime({ process: `giftcard-service ${args[0]}`, ms: performance.now() - startedAt });
  }
}

/** What Node says of a command that ended with another code than 0, or that it killed. */
interface CommandFailure {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly killed: boolean;
}

/** A `serve` that has said that it is ready. */
export type ServeProcess = StartedProcess & { readonly url: string };

/** Starts `serve` with these arguments, on a free port, and waits until it is ready. */
export async function spawnServe(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ServeProcess> {
  const { match, ...server } = await startNode({
    name: "The gift card service",
    args: [PROGRAM, "serve", "--port", "0", "--json", ...args],
    cwd: os.tmpdir(),
    env,
    ready: /"url":"([^"]+)"/,
    timeoutMs: READY_TIMEOUT_MS,
  });
  return { ...server, url: match[1] as string };
}

/** Migrates the database, and starts the service on it. */
export async function startGiftcardService(options: TestServiceOptions): Promise<TestService> {
  const { databaseUrl, environment = "live", args = [] } = options;
  const folder = options.secretsFile
    ? undefined
    : fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-secrets-"));
  const env = {
    GIFTCARD_DATABASE_URL: process.env[DOOR] ? throughDoor(databaseUrl, process.env[DOOR]) : databaseUrl,
    GIFTCARD_SECRETS_FILE: options.secretsFile ?? path.join(folder as string, "secrets.json"),
    // Commands that take a right, or move money, want one.
    GIFTCARD_REASON: "a test",
  };
  const command = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await runCommand([...words, "--json"], env);
    if (exitCode !== 0) throw new Error(`giftcard-service ${words[0]} ended with ${exitCode}: ${stderr}`);
    return JSON.parse(stdout);
  };
  await command("migrate");
  const server = await spawnServe(["--environment", environment, "--metrics-port", "0", ...args], env);
  const desk = openServiceDesk({ databaseUrl, secretsFile: env.GIFTCARD_SECRETS_FILE });
  const cleanUp = async <T>(exitCode: T): Promise<T> => {
    await desk.close();
    if (folder) fs.rmSync(folder, { recursive: true, force: true });
    return exitCode;
  };
  return {
    url: server.url,
    pid: server.pid,
    databaseUrl,
    logs: server.logs,
    async metrics() {
      const [, url] = /"metrics_url":"([^"]+)"/.exec(server.logs()) ?? [];
      return (await fetch(`${url}/metrics`)).text();
    },
    stop: () => server.stop().then(cleanUp),
    kill: async () => void (await server.kill().then(cleanUp)),
    command,
    createProvider: desk.createProvider,
    createCompany: desk.createCompany,
    issueCard: desk.issueCard,
  };
}
