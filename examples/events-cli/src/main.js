import { GiftcardError } from "@giftcard-pay/client";
import { Command, CommanderError } from "commander";
import { conceptCommand } from "./concept-command.js";
import { exitCodes, Failure } from "./failure.js";
import { listCommand } from "./list-command.js";
import { isUnanswered } from "./push.js";
import { pushCommand } from "./push-command.js";

const MORE_HELP = `
Environment:
  GIFTCARD_BASE_URL                  the service's address, without /api/endpoint/v1
  GIFTCARD_API_KEY                   the company's API key
  GIFTCARD_EMAIL, GIFTCARD_PASSWORD  in place of the key; every command then makes a key of its own

Exit codes:
  ${exitCodes.done}  done
  ${exitCodes.failed}  the service refused; the message says what
  ${exitCodes.usage}  the command line, a setting or the file as a whole is wrong
  ${exitCodes.faultyRows}  rows of the file have faults; nothing was sent
  ${exitCodes.unanswered}  no answer; push the same file again, nothing is made twice`;

function program() {
  const root = new Command("giftcard-events")
    .description("Puts an organiser's events on sale at a gift card service")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", MORE_HELP)
    .addCommand(pushCommand())
    .addCommand(listCommand())
    .addCommand(conceptCommand());
  const everywhere = (/** @type {Command} */ command) => {
    command.exitOverride();
    command.commands.forEach(everywhere);
  };
  everywhere(root);
  return root;
}

/** Runs the command line. With `--json` a failure is one JSON value too. @param {string[]} argv */
async function main(argv) {
  try {
    await program().parseAsync(argv);
    return exitCodes.done;
  } catch (error) {
    // Commander has said its own.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const { message, exitCode, details } = explain(error);
    process.stderr.write(`error: ${message}\n`);
    if (argv.includes("--json")) process.stdout.write(`${JSON.stringify({ error: message, ...details })}\n`);
    return exitCode;
  }
}

/** @param {unknown} error @returns {{ message: string, exitCode: number, details?: object }} */
function explain(error) {
  if (error instanceof Failure) return error;
  if (isUnanswered(error)) {
    const message = `${error.message} Check GIFTCARD_BASE_URL and the service, and try again.`;
    return { message, exitCode: exitCodes.unanswered };
  }
  // The client's messages hold no secret.
  if (error instanceof GiftcardError) {
    const advice =
      error.status === 401 ? " Check GIFTCARD_API_KEY, or GIFTCARD_EMAIL and GIFTCARD_PASSWORD." : "";
    return { message: `${error.message}${advice}`, exitCode: exitCodes.failed };
  }
  const { name, code } = /** @type {{ name?: string, code?: string }} */ (error);
  return {
    message: `unexpected failure (${[name, code].filter(Boolean).join(" ")})`,
    exitCode: exitCodes.failed,
  };
}

// Who reads only a part of the output, as `head` does, is no failure.
process.stdout.on("error", (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EPIPE") throw error;
});
process.exitCode = await main(process.argv);
