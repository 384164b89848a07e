import { readFileSync } from "node:fs";
import path from "node:path";
import { ReportError } from "@giftcard-pay/checkout/plugin";
import { Command, CommanderError } from "commander";
import { doctorCommand } from "./doctor.js";
import { CommandFailure } from "./failure.js";
import { reconcileCommand, statementCommand } from "./reports.js";
import { resealCommand } from "./reseal.js";
import { statusCommand } from "./status.js";
import { storefrontCommand } from "./storefront.js";

const EXIT_CODES = `
Exit codes:
  0  done
  1  failed, or differences were found; the message says what
  2  the command line or a setting is wrong`;

const { version } = JSON.parse(readFileSync(path.join(__dirname, "..", "..", "..", "..", "package.json"), "utf8")) as {
  version: string;
};

function program(): Command {
  const root = new Command("giftcard-medusa")
    .description("Commands for the staff of a Medusa shop with gift cards")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", EXIT_CODES)
    .addCommand(doctorCommand())
    .addCommand(reconcileCommand())
    .addCommand(statementCommand())
    .addCommand(resealCommand())
    .addCommand(statusCommand())
    .addCommand(storefrontCommand());
  for (const command of [root, ...root.commands]) command.exitOverride();
  return root;
}

/** Runs the command line. With `--json`, a failure is one JSON value too. */
async function main(argv: string[]): Promise<number> {
  try {
    await program().parseAsync(argv);
    return 0;
  } catch (error) {
    const { message, exitCode } = explain(error);
    if (exitCode === 0) return exitCode;
    // Commander has already printed its own errors.
    if (!(error instanceof CommanderError)) process.stderr.write(`error: ${message}\n`);
    if (argv.includes("--json")) process.stdout.write(`${JSON.stringify({ error: message, exit_code: exitCode })}\n`);
    return exitCode;
  }
}

function explain(error: unknown): { message: string; exitCode: number } {
  if (error instanceof CommandFailure) return error;
  if (error instanceof RangeError || error instanceof ReportError) return { message: error.message, exitCode: 2 };
  if (error instanceof CommanderError)
    return { message: error.message.replace(/^error: /, ""), exitCode: error.exitCode === 0 ? 0 : 2 };
  // The message of any other error may contain an address with a password.
  const { name, code } = error as { name?: string; code?: string };
  return { message: `unexpected failure (${[name, code].filter(Boolean).join(" ")})`, exitCode: 1 };
}

void main(process.argv).then((exitCode) => {
  // A command that found differences may have set it.
  if (exitCode !== 0) process.exitCode = exitCode;
});
