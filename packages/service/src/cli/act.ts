import os from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Act } from "../store/audit.js";
import { COMMON_OPTIONS } from "./help.js";
import { textOption } from "./output.js";

/** The person who runs a command, and the reason. */
export interface ActOptions {
  readonly as?: string;
  readonly reason?: string;
}

const MAX_REASON = 500;
const MAX_NAME = 100;
/** Text that may contain a card number, grouped or not, or a key. */
const SECRET_LIKE = /(\d[\s-]?){13,}|[A-Za-z0-9]{32,}/;
const EMAIL_LIKE = /[^\s@]@[^\s@]/;

/** Parses an option that is stored unencrypted. Rejects text that may contain a card number or a key. */
export const openText = (maxLength: number) => (text: string) => {
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

/** Adds `--reason` and `--as` to a command. Both go into the audit log. */
export function addActOptions(command: Command, { isReasonRequired }: { isReasonRequired: boolean }): Command {
  const reason = new Option("--reason <text>", "the reason, for the audit log")
    .env("GIFTCARD_REASON")
    .argParser(erasableText(MAX_REASON))
    .makeOptionMandatory(isReasonRequired);
  const as = new Option("--as <name>", "your name, for the audit log (default: your account on this machine)")
    .env("GIFTCARD_OPERATOR")
    .argParser(openText(MAX_NAME))
    .helpGroup(COMMON_OPTIONS);
  return command.addOption(reason).addOption(as);
}

/** Returns person and reason for the audit log. */
export function actOf({ as, reason }: ActOptions): Act {
  const osUser = nameOfUser();
  return { operator: as ?? osUser, osUser, reason };
}

/** Returns the account's name. In a container, the account may have only a number. */
function nameOfUser(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
