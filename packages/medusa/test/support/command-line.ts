import { execFile } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const program = path.resolve(import.meta.dirname, "../../bin/giftcard-medusa.js");

/** Runs the plugin's command line on a shop's database, outside the shop's folder. */
export async function runCommand(
  databaseUrl: string,
  ...args: string[]
): Promise<{ exitCode: number; stdout: string }> {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const running = promisify(execFile)(process.execPath, [program, ...args, "--directory", os.tmpdir()], {
    env,
  });
  return running.then(
    ({ stdout }) => ({ exitCode: 0, stdout }),
    ({ code, stdout, stderr }) => ({ exitCode: code, stdout: stdout + stderr }),
  );
}
