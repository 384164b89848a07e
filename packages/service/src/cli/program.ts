import { Command, Help, type Option } from "commander";
import { exitCodes } from "../operator-error.js";
import { version } from "../version.js";
import { accountCommand } from "./account.js";
import { backupCommand, restoreCommand } from "./backup.js";
import { cardChanges } from "./card-change.js";
import { issue } from "./card-issue.js";
import { find, show } from "./card-show.js";
import { cardStock } from "./card-stock.js";
import { checkCommand } from "./check.js";
import { COMMON_OPTIONS } from "./command.js";
import { companyCommand } from "./company.js";
import { environmentCommand, migrateCommand, secretsCommand } from "./database-commands.js";
import { eventsCommand, providerCommand } from "./events.js";
import { expireCommand } from "./expire.js";
import { healthCommand } from "./health.js";
import { keyCommand } from "./key.js";
import { auditCommand, reversalsCommand, transactionsCommand } from "./ledger-lists.js";
import { liabilityCommand } from "./liability.js";
import { reportCommand } from "./report.js";
import { serveCommand } from "./serve.js";

const EXIT_CODES = `
Exit codes:
  ${exitCodes.done}  done
  ${exitCodes.failed}  failed; the message says why
  ${exitCodes.usage}  the command line is wrong
  ${exitCodes.notFound}  no such card, batch, key, account or company
  ${exitCodes.conflict}  it already exists, or its state forbids this
  ${exitCodes.databaseUnreachable}  the database cannot be reached or started
  ${exitCodes.secretsMismatch}  the secrets file is missing, readable by others, damaged, or of another database
  ${exitCodes.notMigrated}  the database's tables are older or newer than this program

Without --database-url (or GIFTCARD_DATABASE_URL), commands use the built-in database in --data-dir. They join the
server of a running \`serve\`, or start one for their own time. Only \`serve\`, \`migrate\` and \`restore\` create a
new database.`;

export function program(): Command {
  const cards = new Command("card").description("Gift cards");
  for (const one of [issue(), show(), find(), ...cardStock(), ...cardChanges()]) cards.addCommand(one);
  const root = new Command("giftcard-service")
    .description("The gift card payment and event listing service")
    .version(version)
    .addHelpText("after", EXIT_CODES)
    // Without this, an option's value such as the password -V3x would be read as an option of this program.
    .enablePositionalOptions()
    .addCommand(serveCommand())
    .addCommand(healthCommand())
    .addCommand(companyCommand(new Command("company").description("Companies, each with an account and a key")))
    .addCommand(accountCommand(new Command("account").description("Accounts, with which companies log in")))
    .addCommand(keyCommand(new Command("key").description("API keys")))
    .addCommand(cards)
    .addCommand(providerCommand(new Command("provider").description("Ticketing providers")))
    .addCommand(eventsCommand(new Command("events").description("Events and event concepts")))
    .addCommand(secretsCommand(new Command("secrets").description("The keys under which cards are hashed")))
    .addCommand(
      environmentCommand(new Command("environment").description("The environment of a database: live or sandbox")),
    )
    .addCommand(migrateCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(checkCommand())
    .addCommand(reportCommand())
    .addCommand(transactionsCommand())
    .addCommand(reversalsCommand())
    .addCommand(liabilityCommand())
    .addCommand(expireCommand())
    .addCommand(auditCommand());
  style(root);
  return root;
}

const commander = new Help();

/** Styles the help and the errors of a command and its subcommands, and makes them throw instead of exit. */
function style(command: Command, words = command.name()): void {
  command
    .exitOverride()
    .helpOption("-h, --help", "show this help")
    .showHelpAfterError(`\`${words} --help\` lists its options.`)
    .configureHelp({ optionDescription, groupItems });
  for (const child of command.commands) style(child, `${words} ${child.name()}`);
}

function optionDescription(option: Option): string {
  const text = commander.optionDescription(option).replace(/ ?\(default: false\)$/, "");
  return option.mandatory ? `${text} (required)` : text;
}

const groupItems: Help["groupItems"] = (all, visible, groupOf) => {
  const groups = commander.groupItems(all, visible, groupOf);
  const common = groups.get(COMMON_OPTIONS);
  if (common && groups.delete(COMMON_OPTIONS)) groups.set(COMMON_OPTIONS, common);
  return groups;
};
