import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const PROGRAM = path.resolve(import.meta.dirname, "../../packages/service/bin/giftcard-service.js");
const READY_TIMEOUT_MS = 30_000;

/** A company with its account, as the command line made it. */
export interface TestCompany {
  readonly companyId: number;
  readonly apiKey: string;
  readonly email: string;
  readonly password: string;
}

export interface TestCard {
  readonly cardNumber: string;
  readonly pin: string;
  readonly expiryDate: string;
}

/** What a command of the service ended with. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real service in a process of its own, as an operator runs it. */
export interface TestService {
  readonly url: string;
  readonly pid: number;
  readonly databaseUrl: string;
  /** All that it has written so far, to both outputs. */
  logs(): string;
  /** Ends it in good order, and gives its exit code. */
  stop(): Promise<number | null>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  createCompany(): Promise<TestCompany>;
  issueCard(order: { balanceCents: number; expires?: string }): Promise<TestCard>;
  createProvider(name?: string): Promise<{ id: number; name: string }>;
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

/** Runs the built command to its end. */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin = "",
): Promise<CommandResult> {
  const running = promisify(execFile)(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
  });
  running.child.stdin?.end(stdin);
  try {
    return { exitCode: 0, ...(await running) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, stdout, stderr };
  }
}

/** A server process that has said that it is ready. */
export interface ServeProcess {
  readonly url: string;
  readonly child: ChildProcess;
  logs(): string;
  ended: Promise<number | null>;
}

/** Starts `serve` with these arguments, on a free port, and waits until it is ready. */
export async function spawnServe(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0", "--json", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  // An abandoned child must not outlive a test run that ends early.
  const onExit = () => child.kill("SIGTERM");
  process.once("exit", onExit);
  void ended.then(() => process.removeListener("exit", onExit));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`The service was not ready in time: ${stderr}`)),
      READY_TIMEOUT_MS,
    );
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      if (stdout.includes("\n")) resolve(JSON.parse(stdout.split("\n", 1)[0] as string).url);
    });
    void ended.then((code) => reject(new Error(`The service ended with ${code}: ${stderr}`)));
    void ended.then(() => clearTimeout(timer));
    child.stdout.once("data", () => clearTimeout(timer));
  });
  return { url, child, logs: () => stdout + stderr, ended };
}

/** Migrates the database, and starts the service on it. */
export async function startGiftcardService(options: TestServiceOptions): Promise<TestService> {
  const { databaseUrl, environment = "live", args = [] } = options;
  const folder = options.secretsFile
    ? undefined
    : fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-secrets-"));
  const env = {
    GIFTCARD_DATABASE_URL: databaseUrl,
    GIFTCARD_SECRETS_FILE: options.secretsFile ?? path.join(folder as string, "secrets.json"),
  };
  const command = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await runCommand([...words, "--json"], env);
    if (exitCode !== 0) throw new Error(`giftcard-service ${words[0]} ended with ${exitCode}: ${stderr}`);
    return JSON.parse(stdout);
  };
  await command("migrate");
  const server = await spawnServe(["--environment", environment, ...args], env);
  const end = async (signal: NodeJS.Signals) => {
    server.child.kill(signal);
    const exitCode = await server.ended;
    if (folder) fs.rmSync(folder, { recursive: true, force: true });
    return exitCode;
  };
  return {
    url: server.url,
    pid: server.child.pid as number,
    databaseUrl,
    logs: server.logs,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
    command,
    createProvider: (name = `provider ${randomBytes(4).toString("hex")}`) =>
      command("provider", "create", "--name", name),
    async createCompany() {
      const email = `${randomBytes(6).toString("hex")}@example.nl`;
      const password = randomBytes(12).toString("base64url");
      const made = await command(
        "company",
        "create",
        "--name",
        "A shop",
        "--email",
        email,
        "--password",
        password,
      );
      return { companyId: made.company_id, apiKey: made.apikey, email, password };
    },
    async issueCard({ balanceCents, expires }) {
      const more = expires === undefined ? [] : ["--expires", expires];
      const card = await command("card", "issue", "--balance", String(balanceCents), ...more);
      return { cardNumber: card.cardnumber, pin: card.pin, expiryDate: card.expiry_date };
    },
  };
}
