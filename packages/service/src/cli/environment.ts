import { Argument, type Command } from "commander";
import { changeEnvironment, type Environment, environments, readEnvironment } from "../store/environment.js";
import { command } from "./command.js";

const show = () =>
  command("show", "Show whether this database's cards are live or a sandbox's").run(async ({ pool, out }) => {
    const environment = (await readEnvironment(pool)) ?? null;
    out.result({ environment }, environment ?? "not set yet: the first `serve` sets it");
  });

const set = () =>
  command("set", "Change the environment of this database, for example of a copy for tests")
    .audited({ isReasonRequired: true })
    .addArgument(new Argument("<name>").choices(environments))
    .addHelpText("after", "\nRestart all services on this database afterwards.")
    .run(async ({ pool, out, act }, environment: Environment) => {
      const before = (await changeEnvironment(pool, environment, act)) ?? null;
      out.result({ environment, before }, `this database now belongs to the ${environment} environment`);
    });

export const environmentCommand = (group: Command): Command => group.addCommand(show()).addCommand(set());
