import os from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Act } from "../store/audit.js";
import { COMMON_OPTIONS } from "./help.js";
import { textOption } from "./output.js";

/** Who runs a command that changes something, and why. */
export interface ActOptions {
  readonly as?: string;
  readonly reason?: string;
}

const MAX_REASON = 500;
const MAX_NAME = 100;
/** As many digits as a card number may have, grouped or not, or as many letters and digits as a key. */
const SECRET_LIKE = /(\d[\s-]?){13,}|[A-Za-z0-9]{32,}/;

/** Parses an option that is kept in the clear: what looks like a card number or a key does not get there. */
export const openText = (maxLength: number) => (text: string) => {
  const value = textOption(maxLength)(text);
  if (SECRET_LIKE.test(value))
    throw new InvalidArgumentError("It looks as if a card number or key stood in it. Leave that out.");
  return value;
};

/** Adds `--reason` and `--as` to a command that changes something: both go into the audit log. */
export function addActOptions(
  command: Command,
  { isReasonRequired }: { isReasonRequired: boolean },
): Command {
  const reason = new Option("--reason <text>", "why; it is kept in the audit log")
    .env("GIFTCARD_REASON")
    .argParser(openText(MAX_REASON))
    .makeOptionMandatory(isReasonRequired);
  const as = new Option(
    "--as <name>",
    "who does this, for the audit log (default: your account on this machine)",
  )
    .env("GIFTCARD_OPERATOR")
    .argParser(openText(MAX_NAME))
    .helpGroup(COMMON_OPTIONS);
  return command.addOption(reason).addOption(as);
}

/** What goes into the audit log. */
export function actOf({ as, reason }: ActOptions): Act {
  const osUser = nameOfUser();
  return { operator: as ?? osUser, osUser, reason };
}

/** A container may run under a number that has no name. */
function nameOfUser(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
