import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

const PROGRAM = path.resolve(import.meta.dirname, "../bin/giftcard-events.js");

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Parses the output of `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests compare it
  json(): any;
}

/** Runs the command with only these settings. */
export function run(args: readonly string[], settings: Record<string, string> = {}): Promise<CommandResult> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GIFTCARD_"));
  const env = { ...Object.fromEntries(inherited), ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { env, maxBuffer: 2 ** 25 }, (error, stdout, stderr) => {
      const exitCode = error ? Number(error.code) : 0;
      resolve({ exitCode, stdout, stderr, json: () => JSON.parse(stdout) });
    });
  });
}

let folder: string | undefined;
let files = 0;

/** Writes a file; objects become JSON. `removeFiles` removes all of them. */
export async function fileOf(name: string, content: string | Uint8Array | object): Promise<string> {
  folder ??= await mkdtemp(path.join(os.tmpdir(), "giftcard-events-"));
  const file = path.join(folder, `${++files}-${name}`);
  const raw = typeof content === "string" || content instanceof Uint8Array;
  await writeFile(file, raw ? content : JSON.stringify(content));
  return file;
}

export async function removeFiles(): Promise<void> {
  if (folder) await rm(folder, { recursive: true, force: true });
  // The test files share this module.
  folder = undefined;
}
