import { InvalidArgumentError, Option } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { today } from "../store/days.js";
import type { DatabaseCommand } from "./command.js";
import { day } from "./output.js";

/** The first and the last day of a list; each is unlimited by default. */
export interface DayOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Adds `--from` and `--to`. Days are inclusive, by the clock in Amsterdam. */
export function addDayOptions(command: DatabaseCommand, { isRequired }: { isRequired: boolean }): DatabaseCommand {
  const option = (flags: string, description: string) =>
    new Option(flags, description).argParser(day).makeOptionMandatory(isRequired);
  return command
    .addOption(option("--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam"))
    .addOption(option("--to <yyyy-mm-dd>", "the last day, inclusive"));
}

/** @throws {OperatorError} if the last day is before the first */
export function checkDays({ from, to }: DayOptions): void {
  if (from !== undefined && to !== undefined && to < from)
    throw new OperatorError("--to is before --from.", exitCodes.usage);
}

/** Parses an option that is a day, today in Amsterdam or earlier. */
export function pastDay(text: string): string {
  if (day(text) > today()) throw new InvalidArgumentError("Give a day that is not in the future.");
  return text;
}
