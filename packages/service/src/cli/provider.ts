import type { Command } from "commander";
import { createProvider, listProviders } from "../store/providers.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { textOption } from "./output.js";

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
