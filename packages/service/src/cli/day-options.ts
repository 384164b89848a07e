import type { Command } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { day } from "./output.js";

/** The days that a list is about; left out, all before or after. */
export interface DayOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Adds `--from` and `--to`. Days are those of the clock in Amsterdam, both included. */
export const addDayOptions = (command: Command, { isRequired }: { isRequired: boolean }): Command =>
  [
    ["--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam"] as const,
    ["--to <yyyy-mm-dd>", "the last day, which counts in full"] as const,
  ].reduce(
    (added, [flags, description]) =>
      added.addOption(added.createOption(flags, description).argParser(day).makeOptionMandatory(isRequired)),
    command,
  );

/** @throws {OperatorError} when the last day is before the first: nothing would be found, whatever there is */
export function checkDays({ from, to }: DayOptions): void {
  if (from !== undefined && to !== undefined && to < from)
    throw new OperatorError("--to is before --from.", exitCodes.usage);
}
