import type { Command } from "commander";
import { removeEvents } from "../store/company-storage.js";
import { createProvider, listProviders } from "../store/providers.js";
import { command } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { identifier, textOption } from "./output.js";

const remove = () =>
  addDayOptions(command("remove", "Delete a company's events and event concepts"), { isRequired: false })
    .audited({ isReasonRequired: true })
    .requiredOption("--company <id>", "the company's id", identifier)
    .option("--dry-run", "show how many would be deleted, but delete nothing", false)
    .addHelpText("after", "\nThe days are those of their creation.")
    .action((options: CommonOptions & DayOptions & { company: number; dryRun: boolean }) => {
      const { company, from, to, dryRun: isDryRun } = options;
      checkDays(options);
      return withContext(options, async ({ pool, out, act }) => {
        const removed = await removeEvents(pool, { company, from, to, isDryRun }, act);
        out.result(
          { company_id: company, ...removed, dry_run: isDryRun },
          `company ${company}: ${removed.events} events and ${removed.concepts} concepts ${isDryRun ? "would be" : "are"} deleted`,
        );
      });
    });

export const eventsCommand = (group: Command): Command => group.addCommand(remove());

const create = () =>
  command("create", "Create a ticketing provider")
    .audited({ isReasonRequired: false })
    .requiredOption("--name <name>", "the provider's name", textOption(255))
    .run(async ({ pool, out, act }, options: { name: string }) => {
      const provider = await createProvider(pool, options.name, act);
      out.result(provider, `id    ${provider.id}\nname  ${provider.name}`);
    });

const list = () =>
  command("list", "List the ticketing providers").run(async ({ pool, out }) => {
    const providers = await listProviders(pool);
    out.result(providers, providers.map(({ id, name }) => `${id}\t${name}`).join("\n") || "no providers");
  });

export const providerCommand = (group: Command): Command => group.addCommand(create()).addCommand(list());
