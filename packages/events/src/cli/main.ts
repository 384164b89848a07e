import { readFileSync } from "node:fs";
import path from "node:path";
import { GiftcardError } from "@giftcard-pay/client";
import { Command, CommanderError } from "commander";
import { isUnanswered, isUnsent } from "../push/create-events.js";
import { checkCommand } from "./check-command.js";
import { conceptCommand } from "./concept-command.js";
import { feedCommand } from "./feed-command.js";
import { listCommand } from "./list-command.js";
import { exitCodes, Failure, say, tell } from "./output.js";
import { pushCommand } from "./push-command.js";

const MORE_HELP = `
Environment:
  GIFTCARD_BASE_URL  the service's address, without /api/endpoint/v1
  GIFTCARD_API_KEY   the company's API key

Exit codes:
  ${exitCodes.done}  done
  ${exitCodes.failed}  the service refused; the message says why
  ${exitCodes.usage}  the command line, a setting or the whole file is wrong
  ${exitCodes.faultyRows}  rows have faults; nothing was sent or written, except the other rows with --skip-faulty
  ${exitCodes.unanswered}  no response; push the same file again, nothing is created twice`;

/** The package's version. */
const { version } = JSON.parse(readFileSync(path.join(import.meta.dirname, "..", "..", "package.json"), "utf8")) as {
  version: string;
};

function program() {
  const root = new Command("giftcard-events")
    .description("Send a shop's events to a gift card service, list them, and write feeds")
    .version(version, "-V, --version", "show the version")
    .addHelpText("after", MORE_HELP)
    .addCommand(checkCommand())
    .addCommand(pushCommand())
    .addCommand(feedCommand())
    .addCommand(listCommand())
    .addCommand(conceptCommand());
  const everywhere = (command: Command) => {
    command.exitOverride().helpOption("-h, --help", "show this help");
    command.commands.forEach(everywhere);
  };
  everywhere(root);
  return root;
}

/** Runs the command line. With `--json`, a failure is one JSON value too. */
async function main(argv: string[]) {
  try {
    await program().parseAsync(argv);
    return exitCodes.done;
  } catch (error) {
    // A reader that stops early, such as `head`, is no failure.
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return exitCodes.done;
    const { message, exitCode, details } = explain(error);
    if (exitCode === exitCodes.done) return exitCode;
    // Commander has printed its own errors.
    if (!(error instanceof CommanderError)) tell(`error: ${message}`);
    if (argv.includes("--json")) say(JSON.stringify({ error: message, exit_code: exitCode, ...details }));
    return exitCode;
  }
}

function explain(error: unknown): { message: string; exitCode: number; details?: object } {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, "");
    return { message, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  }
  if (isUnanswered(error) || isUnsent(error)) {
    const message = `${error.message} Check GIFTCARD_BASE_URL and the service, and try again.`;
    return { message, exitCode: exitCodes.unanswered };
  }
  // The client's messages contain no secret.
  if (error instanceof GiftcardError) {
    const advice = error.status === 401 ? " Check GIFTCARD_API_KEY." : "";
    return { message: `${error.message}${advice}`, exitCode: exitCodes.failed };
  }
  const { name, code } = error as { name?: string; code?: string };
  return {
    message: `unexpected failure (${[name, code].filter(Boolean).join(" ")})`,
    exitCode: exitCodes.failed,
  };
}

// EPIPE can also arrive between two writes.
process.stdout.on("error", (error) => {
  if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
});
process.exitCode = await main(process.argv);
