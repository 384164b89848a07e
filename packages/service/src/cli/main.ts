import { CommanderError } from "commander";
import pg from "pg";
import { databaseAdvice } from "../database/advice.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { program } from "./program.js";

/** Runs the command line; with `--json` a failure is one JSON value too. */
async function main(argv: string[]): Promise<number> {
  try {
    await program().parseAsync(argv);
    return exitCodes.done;
  } catch (error) {
    const { message, exitCode, said } = explain(error);
    const details = error instanceof OperatorError ? error.details : {};
    if (exitCode === exitCodes.done) return exitCode;
    if (!said) process.stderr.write(`error: ${message}\n`);
    if (argv.includes("--json"))
      process.stdout.write(`${JSON.stringify({ error: message, exit_code: exitCode, ...details })}\n`);
    return exitCode;
  }
}

/** `said`: the message stands on standard error already. */
function explain(error: unknown): { message: string; exitCode: number; said: boolean } {
  if (error instanceof OperatorError)
    return { message: error.message, exitCode: error.exitCode, said: false };
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, "");
    return { message, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage, said: true };
  }
  return { message: explainFailure(error as NodeJS.ErrnoException), exitCode: exitCodes.failed, said: false };
}

/** What failed, in words. Only a file's error is said as it is: the text of any other may hold an address with a password. */
function explainFailure(error: NodeJS.ErrnoException): string {
  const { name, code, path, syscall, message } = error;
  if (syscall !== undefined && path !== undefined) return `${message}. Mend that, and run it again.`;
  const advice = error instanceof pg.DatabaseError && code !== undefined && databaseAdvice(code);
  if (advice) return `The database failed (${code}). ${advice}`;
  return (
    `unexpected failure (${[name, code].filter(Boolean).join(" ")}). Look whether it was done before you run it again, ` +
    "and report it if it stays."
  );
}

process.exitCode = await main(process.argv);
