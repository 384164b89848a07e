import type { Command } from "commander";
import { removeEvents } from "../store/company-storage.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { identifier } from "./output.js";

interface RemoveOptions extends CommonOptions, ActOptions, DayOptions {
  readonly company: number;
  readonly dryRun: boolean;
}

const remove = () =>
  addActOptions(
    addDayOptions(command("remove", "Delete a company's events and event concepts"), {
      isRequired: false,
    }),
    { isReasonRequired: true },
  )
    .requiredOption("--company <id>", "the company's id", identifier)
    .option("--dry-run", "show how many would be deleted, but delete nothing", false)
    .addHelpText("after", "\nThe days are those of their creation.")
    .action(({ company: companyId, from, to, dryRun, ...options }: RemoveOptions) => {
      checkDays({ from, to });
      return withContext(options, async ({ pool, out }) => {
        const removed = await removeEvents(pool, { companyId, from, to, isDryRun: dryRun }, actOf(options));
        out.result(
          { company_id: companyId, ...removed, dry_run: dryRun },
          `company ${companyId}: ${removed.events} events and ${removed.concepts} concepts ${dryRun ? "would be" : "are"} deleted`,
        );
      });
    });

/** `events remove` */
export const eventsCommand = (group: Command): Command => group.addCommand(remove());
