import { Command, InvalidArgumentError, Option } from "commander";
import { type Context, type ContextOptions, withContext } from "./context.js";
import { textOption } from "./output.js";

/** The heading of the common options, which are listed after a command's own. */
export const COMMON_OPTIONS = "Options of most commands:";

const MAX_REASON = 500;
const MAX_NAME = 100;
/** Text that may contain a card number, grouped or not, or a key. */
const SECRET_LIKE = /(\d[\s-]?){13,}|[A-Za-z0-9]{32,}/;
const EMAIL_LIKE = /[^\s@]@[^\s@]/;

export class DatabaseCommand extends Command {
  /** Adds `--reason` and `--as`. Both go into the audit log. */
  audited({ isReasonRequired }: { isReasonRequired: boolean }): this {
    const reason = variable("--reason <text>", "the reason, for the audit log")
      .argParser(erasableText(MAX_REASON))
      .makeOptionMandatory(isReasonRequired);
    const as = new Option("--as <name>", "your name, for the audit log (default: your account on this machine)")
      .env("GIFTCARD_OPERATOR")
      .argParser(openText(MAX_NAME))
      .helpGroup(COMMON_OPTIONS);
    return this.addOption(reason).addOption(as);
  }

  /** Sets the work of the command. It gets the command's arguments and options after the context. */
  // biome-ignore lint/suspicious/noExplicitAny: commander does not type them either
  run(work: (context: Context, ...parameters: any[]) => Promise<void>, how?: ContextOptions): this {
    // The last parameter is this command, the one before it the options.
    return this.action((...parameters) =>
      withContext(parameters.at(-2), (context) => work(context, ...parameters.slice(0, -1)), how),
    );
  }
}

/** Creates an option that is also a variable: `--data-dir` is `GIFTCARD_DATA_DIR`. */
export function variable(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(`GIFTCARD_${option.name().replaceAll("-", "_").toUpperCase()}`);
}

export const command = (name: string, description: string): DatabaseCommand =>
  new DatabaseCommand(name)
    .description(description)
    .optionsGroup(COMMON_OPTIONS)
    .addOption(variable("--database-url <url>", "the address of your PostgreSQL; `-` reads it from standard input"))
    .addOption(
      variable("--data-dir <folder>", "the folder of the built-in database and the secrets").default("./giftcard-data"),
    )
    .option("--db-user <account>", "as root: the account that runs the built-in database")
    .option("--json", "print the answer as one JSON value", false)
    .optionsGroup("Options:");

/** Parses an option that is stored unencrypted. Rejects text that may contain a card number or a key. */
const openText = (maxLength: number) => (text: string) => {
  const value = textOption(maxLength)(text);
  if (SECRET_LIKE.test(value))
    throw new InvalidArgumentError("It seems to contain a card number or a key. Leave that out.");
  return value;
};

/** As {@link openText}, for text about others. Rejects email addresses, since nobody could erase them from the audit log. */
export const erasableText = (maxLength: number) => (text: string) => {
  const value = openText(maxLength)(text);
  if (EMAIL_LIKE.test(value))
    throw new InvalidArgumentError(
      "It seems to contain an email address, which could never be erased. Leave that out.",
    );
  return value;
};
