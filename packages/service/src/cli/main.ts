import { Command, CommanderError } from "commander";
import pg from "pg";
import { databaseAdvice } from "../database-fault.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { version } from "../version.js";
import { accountCommand } from "./account.js";
import { auditCommand } from "./audit.js";
import { backupCommand, restoreCommand } from "./backup.js";
import { cardCommand } from "./card.js";
import { checkCommand } from "./check.js";
import { companyCommand } from "./company.js";
import { environmentCommand } from "./environment.js";
import { eventsCommand } from "./events.js";
import { healthCommand } from "./health.js";
import { styleHelp } from "./help.js";
import { keyCommand } from "./key.js";
import { liabilityCommand } from "./liability.js";
import { migrateCommand } from "./migrate.js";
import { providerCommand } from "./provider.js";
import { reportCommand } from "./report.js";
import { secretsCommand } from "./secrets.js";
import { serveCommand } from "./serve.js";
import { transactionsCommand } from "./transactions.js";

const EXIT_CODES = `
Exit codes:
  ${exitCodes.done}  done
  ${exitCodes.failed}  failed; the message says why
  ${exitCodes.usage}  the command line is wrong
  ${exitCodes.notFound}  no such card, batch, key, account or company
  ${exitCodes.conflict}  there is one already, or it is in no state for this
  ${exitCodes.databaseUnreachable}  the database cannot be reached or started
  ${exitCodes.secretsMismatch}  the secrets file is missing, open to others, damaged, or another database's
  ${exitCodes.notMigrated}  the database's tables are older than this program, or newer
  ${exitCodes.held}  a feed lacks more than half of its events to come: look at it, and accept it by hand

Without --database-url (or GIFTCARD_DATABASE_URL), commands use the built-in database in --data-dir: they join the
one that a running \`serve\` has there, or bring it up for as long as they take. A new one is made by \`serve\`,
\`migrate\` and \`restore\` alone.`;

function program(): Command {
  const root = new Command("giftcard-service")
    .description("The gift card payment and event listing service")
    .version(version)
    .addHelpText("after", EXIT_CODES)
    // An option's value that looks like an option of this program, such as the password -V3x, stays a value.
    .enablePositionalOptions()
    .addCommand(serveCommand())
    .addCommand(healthCommand())
    .addCommand(
      companyCommand(new Command("company").description("Companies, each with an account and a key")),
    )
    .addCommand(accountCommand(new Command("account").description("Accounts with which companies log in")))
    .addCommand(keyCommand(new Command("key").description("API keys")))
    .addCommand(cardCommand(new Command("card").description("Gift cards")))
    .addCommand(providerCommand(new Command("provider").description("Ticketing providers")))
    .addCommand(eventsCommand(new Command("events").description("Feeds of events, pulled from shops")))
    .addCommand(secretsCommand(new Command("secrets").description("The keys under which cards are hashed")))
    .addCommand(
      environmentCommand(new Command("environment").description("What the cards are: live, or a sandbox's")),
    )
    .addCommand(migrateCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(checkCommand())
    .addCommand(reportCommand())
    .addCommand(transactionsCommand())
    .addCommand(liabilityCommand())
    .addCommand(auditCommand());
  const everywhere = (command: Command): void => {
    command.exitOverride();
    for (const child of command.commands) everywhere(child);
  };
  everywhere(root);
  styleHelp(root);
  return root;
}

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
