import { execFile } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const program = path.resolve(import.meta.dirname, "../../bin/giftcard-medusa.js");

interface Ended {
  readonly exitCode: number;
  /** The output, with standard error appended if the command failed. */
  readonly stdout: string;
}

/** Runs the plugin's command line on a shop's database, outside the shop's folder. */
export const runCommand = (databaseUrl: string, ...args: string[]): Promise<Ended> =>
  runWith({ DATABASE_URL: databaseUrl }, ...args, "--directory", os.tmpdir());

/** Runs the plugin's command line with these settings. */
export async function runWith(settings: Record<string, string>, ...args: string[]): Promise<Ended> {
  const env = { ...process.env, ...settings };
  const running = promisify(execFile)(process.execPath, [program, ...args], { env });
  return running.then(
    ({ stdout }) => ({ exitCode: 0, stdout }),
    ({ code, stdout, stderr }) => ({ exitCode: code, stdout: stdout + stderr }),
  );
}
