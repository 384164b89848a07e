import { CommanderError } from "commander";
import pg from "pg";
import { databaseAdvice } from "../database/advice.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { program } from "./program.js";

/** Runs the command line and returns the exit code. With `--json`, a failure is one JSON value too. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(argv);
    return exitCodes.done;
  } catch (error) {
    const { message, exitCode, isPrinted } = explain(error);
    const details = error instanceof OperatorError ? error.details : {};
    if (exitCode === exitCodes.done) return exitCode;
    if (!isPrinted) process.stderr.write(`error: ${message}\n`);
    if (argv.includes("--json"))
      process.stdout.write(`${JSON.stringify({ error: message, exit_code: exitCode, ...details })}\n`);
    return exitCode;
  }
}

/** Explains a failure. `isPrinted`: commander has already printed the message. */
function explain(error: unknown): { message: string; exitCode: number; isPrinted: boolean } {
  if (error instanceof OperatorError) return { message: error.message, exitCode: error.exitCode, isPrinted: false };
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, "");
    return { message, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage, isPrinted: true };
  }
  const message = explainFailure(error as NodeJS.ErrnoException);
  return { message, exitCode: exitCodes.failed, isPrinted: false };
}

/** Explains an unexpected failure. Shows the message only of a file's error: others may hold an address with a password. */
function explainFailure(error: NodeJS.ErrnoException): string {
  const { name, code, path, syscall, message } = error;
  if (syscall !== undefined && path !== undefined) return `${message}. Fix that, and run the command again.`;
  const advice = error instanceof pg.DatabaseError && code !== undefined && databaseAdvice(code);
  if (advice) return `The database failed (${code}). ${advice}`;
  return (
    `unexpected failure (${[name, code].filter(Boolean).join(" ")}). Check whether it was done before you run it again. ` +
    "If it fails again, report it."
  );
}
