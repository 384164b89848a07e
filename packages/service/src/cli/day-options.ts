import { type Command, InvalidArgumentError } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { today } from "../store/days.js";
import { day } from "./output.js";

/** The first and the last day of a list; each is unlimited by default. */
export interface DayOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Adds `--from` and `--to`. Days are inclusive, by the clock in Amsterdam. */
export const addDayOptions = (command: Command, { isRequired }: { isRequired: boolean }): Command =>
  [
    ["--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam"] as const,
    ["--to <yyyy-mm-dd>", "the last day, inclusive"] as const,
  ].reduce(
    (added, [flags, description]) =>
      added.addOption(added.createOption(flags, description).argParser(day).makeOptionMandatory(isRequired)),
    command,
  );

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
