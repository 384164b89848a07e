import { AsyncLocalStorage } from "node:async_hooks";
import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Limits, Timeouts } from "@giftcard-pay/service";
import { recordTime } from "../../scripts/lib/process/times.mjs";
import { startNode } from "../../scripts/lib/process.mjs";
import { openServiceDesk, type ServiceDesk, type TestCard, type TestCompany } from "./service-desk.js";

export type { TestCard, TestCompany };

const PROGRAM = path.resolve(import.meta.dirname, "../../packages/service/bin/giftcard-service.js");
const WITH_LIMITS = path.join(import.meta.dirname, "serve-with-limits.mjs");
const READY_TIMEOUT_MS = 240_000;
/** A command that takes longer must be hanging, even on a slow machine. */
const COMMAND_TIMEOUT_MS = 120_000;

type StartedProcess = Omit<Awaited<ReturnType<typeof startNode>>, "match">;

/** The result of a command of the service. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real service in a separate process, as an operator runs it. */
export interface TestService extends Omit<ServiceDesk, "close"> {
  readonly url: string;
  readonly pid: number;
  readonly databaseUrl: string;
  /** Returns everything written to stdout and stderr so far. */
  logs(): string;
  /** Returns the metrics in Prometheus's format. */
  metrics(): Promise<string>;
  /** Shuts the service down gracefully, and returns its exit code. */
  stop(): Promise<number | null>;
  /** Kills the process with SIGKILL, like a power failure. */
  kill(): Promise<void>;
  /** Runs a command on the same database, and returns the JSON that it printed. */
  command(...args: string[]): Promise<unknown>;
}

export interface TestServiceOptions {
  readonly databaseUrl: string;
  readonly environment?: "live" | "sandbox";
  /** The caller's file, for a service that is restarted on the same database. By default, a temporary file. */
  readonly secretsFile?: string;
  readonly args?: readonly string[];
  /** Limits and timeouts that no option of `serve` changes. `args` is then ignored. */
  readonly limits?: { readonly [Name in keyof Limits]?: Partial<Limits[Name]> };
  readonly timeouts?: Partial<Timeouts>;
}

/** Returns a database's address through a PgBouncer. @param door `host:port/`, and a query if it needs one */
export function throughDoor(databaseUrl: string, door: string): string {
  const [url, way] = [new URL(databaseUrl), new URL(`postgres://${door}`)];
  url.host = way.host;
  url.search = way.search;
  return url.href;
}

/** The environment variable with the PgBouncer's address: `npm run prove -- pgbouncer` makes each service connect through it. */
const DOOR = "GIFTCARD_TEST_DOOR";

/** The environment and the output of a command that runs in this process. */
const running = new AsyncLocalStorage<{ env: NodeJS.ProcessEnv; stdout: string; stderr: string }>();
for (const name of ["stdout", "stderr"] as const) {
  const stream = process[name];
  const write = stream.write.bind(stream);
  stream.write = (...[text, ...rest]: unknown[]) => {
    const command = running.getStore();
    if (!command) return write(...([text, ...rest] as Parameters<typeof write>));
    command[name] += text;
    for (const written of rest) if (typeof written === "function") process.nextTick(written);
    return true;
  };
}
const variables = process.env;
const variable = (name: string) => running.getStore()?.env[name] ?? variables[name];
process.env = new Proxy(variables, {
  get: (_, name: string) => variable(name),
  has: (_, name: string) => variable(name) !== undefined,
  set: (_, name, value) => Reflect.set(variables, name, value),
});

/**
 * Runs a command of the built service in this process, since starting a process takes most of a command's time. A command
 * that serves, reads standard input or may start a database gets its own process.
 */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin = "",
): Promise<CommandResult> {
  if (args[0] === "serve" || args.includes("--data-dir") || stdin !== "") return runProgram(args, env, stdin);
  const { main } = await import("../../packages/service/dist/cli/main.js");
  const command = { env, stdout: "", stderr: "" };
  const exitCode = await running.run(command, () => main(["node", "giftcard-service", ...args]));
  return { exitCode, stdout: command.stdout, stderr: command.stderr };
}

/**
 * Runs a command of the built service in its own process until it exits.
 *
 * @throws if it hangs
 */
export async function runProgram(
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
    const { code, stdout, stderr, killed } = error as CommandResult & { code: number; killed: boolean };
    if (killed) throw new Error(`giftcard-service ${args[0]} hung, or wrote too much: ${stderr}`);
    return { exitCode: code, stdout, stderr };
  } finally {
    recordTime({ process: `giftcard-service ${args[0]}`, ms: performance.now() - startedAt });
  }
}

/** Returns a function that runs a command with this environment, and returns the JSON that it printed. */
export const commandsWith =
  (env: NodeJS.ProcessEnv): TestService["command"] =>
  async (...words) => {
    const { exitCode, stdout, stderr } = await runCommand([...words, "--json"], env);
    if (exitCode !== 0) throw new Error(`giftcard-service ${words[0]} ended with ${exitCode}: ${stderr}`);
    return JSON.parse(stdout);
  };

/** A `serve` process that has reported that it is ready. */
export type ServeProcess = StartedProcess & { readonly url: string };

/** Starts `serve` with these arguments, on a free port, and waits until it is ready. */
export const spawnServe = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServeProcess> =>
  spawnServing([PROGRAM, "serve", "--port", "0", "--json", ...args], env);

async function spawnServing(args: readonly string[], env: NodeJS.ProcessEnv): Promise<ServeProcess> {
  const { match, ...server } = await startNode({
    name: "The gift card service",
    args: [...args],
    cwd: os.tmpdir(),
    env,
    ready: /"url":"([^"]+)"/,
    timeoutMs: READY_TIMEOUT_MS,
  });
  return { ...server, url: match[1] as string };
}

/** Migrates the database and starts the service on it. */
export async function startGiftcardService(options: TestServiceOptions): Promise<TestService> {
  const { databaseUrl, environment = "live", args = [], limits, timeouts } = options;
  const folder = options.secretsFile ? undefined : fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-secrets-"));
  const env = {
    GIFTCARD_DATABASE_URL: process.env[DOOR] ? throughDoor(databaseUrl, process.env[DOOR]) : databaseUrl,
    GIFTCARD_SECRETS_FILE: options.secretsFile ?? path.join(folder as string, "secrets.json"),
    // Commands that change an issued card, or revoke or remove something, require a reason.
    GIFTCARD_REASON: "a test",
  };
  const command = commandsWith(env);
  await command("migrate");
  const server =
    limits || timeouts
      ? await spawnServing([WITH_LIMITS], {
          ...env,
          TEST_LIMITS: JSON.stringify({ environment, limits: { ...limits }, timeouts }),
        })
      : await spawnServe(["--environment", environment, "--metrics-port", "0", ...args], env);
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
