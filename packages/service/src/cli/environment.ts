import { Argument, type Command } from "commander";
import { changeEnvironment, type Environment, environments, readEnvironment } from "../store/environment.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";

const show = () =>
  command("show", "Say whether this database's cards are live or a sandbox's").action(
    (options: CommonOptions) =>
      withContext(options, async ({ pool, out }) => {
        const environment = (await readEnvironment(pool)) ?? null;
        out.result({ environment }, environment ?? "not said yet: the first `serve` writes it down");
      }),
  );

const set = () =>
  addActOptions(command("set", "Change what this database's cards are, as for a copy that is to be tried"), {
    isReasonRequired: true,
  })
    .addArgument(new Argument("<name>").choices(environments))
    .addHelpText("after", "\nServices that run on it must be started anew.")
    .action((environment: Environment, options: CommonOptions & ActOptions) =>
      withContext(options, async ({ pool, out }) => {
        const before = (await changeEnvironment(pool, environment, actOf(options))) ?? null;
        out.result({ environment, before }, `this database is of the ${environment} environment now`);
      }),
    );

/** `environment show|set` */
export const environmentCommand = (group: Command): Command => group.addCommand(show()).addCommand(set());
