import type { Command } from "commander";
import { removeEvents } from "../store/company-storage.js";
import { createProvider, listProviders } from "../store/providers.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { identifier, textOption } from "./output.js";

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
        const removed = await removeEvents(pool, { company: companyId, from, to, isDryRun: dryRun }, actOf(options));
        out.result(
          { company_id: companyId, ...removed, dry_run: dryRun },
          `company ${companyId}: ${removed.events} events and ${removed.concepts} concepts ${dryRun ? "would be" : "are"} deleted`,
        );
      });
    });

/** `events remove` */
export const eventsCommand = (group: Command): Command => group.addCommand(remove());

const create = () =>
  addActOptions(command("create", "Create a ticketing provider"), { isReasonRequired: false })
    .requiredOption("--name <name>", "the provider's name", textOption(255))
    .action((options: CommonOptions & ActOptions & { name: string }) =>
      withContext(options, async ({ pool, out }) => {
        const provider = await createProvider(pool, options.name, actOf(options));
        out.result(provider, `id    ${provider.id}\nname  ${provider.name}`);
      }),
    );

const list = () =>
  command("list", "List the ticketing providers").action((options: CommonOptions) =>
    withContext(options, async ({ pool, out }) => {
      const providers = await listProviders(pool);
      out.result(providers, providers.map(({ id, name }) => `${id}\t${name}`).join("\n") || "no providers");
    }),
  );

/** `provider create|list` */
export const providerCommand = (group: Command): Command => group.addCommand(create()).addCommand(list());
