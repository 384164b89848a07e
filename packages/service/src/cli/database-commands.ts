import { Argument, type Command } from "commander";
import { migrate } from "../database/migrations.js";
import { changeEnvironment, type Environment, environments, readEnvironment } from "../store/environment.js";
import { countByGeneration, countPrepared, rotateSecrets } from "../store/secret-generations.js";
import { command } from "./command.js";

export const migrateCommand = () =>
  command("migrate", "Bring the database's tables up to date").run(
    async ({ pool, out }) => {
      const applied = await migrate(pool);
      out.result({ applied }, applied.length > 0 ? `applied: ${applied.join(", ")}` : "already up to date");
    },
    { tables: "any" },
  );

const showEnvironment = () =>
  command("show", "Show whether this database's cards are live or a sandbox's").run(async ({ pool, out }) => {
    const environment = (await readEnvironment(pool)) ?? null;
    out.result({ environment }, environment ?? "not set yet: the first `serve` sets it");
  });

const setEnvironment = () =>
  command("set", "Change the environment of this database, for example of a copy for tests")
    .audited({ isReasonRequired: true })
    .addArgument(new Argument("<name>").choices(environments))
    .addHelpText("after", "\nRestart all services on this database afterwards.")
    .run(async ({ pool, out, act }, environment: Environment) => {
      const before = (await changeEnvironment(pool, environment, act)) ?? null;
      out.result({ environment, before }, `this database now belongs to the ${environment} environment`);
    });

export const environmentCommand = (group: Command): Command =>
  group.addCommand(showEnvironment()).addCommand(setEnvironment());

const rotate = () =>
  command("rotate", "Create new secrets and use them, while the service is running")
    .audited({ isReasonRequired: false })
    .option("--prepare", "only add them to the file, which can then be copied to other hosts", false)
    .addHelpText(
      "after",
      "\nNew cards are hashed under the new secrets at once, old cards when their right PIN is next used.\n" +
        "The file keeps the old secrets, which old cards need. Back it up again. If several hosts have a file each:\n" +
        "`rotate --prepare`, copy the file to all hosts, `rotate`.",
    )
    .run(async ({ pool, out, secretsFile, act }, { prepare: prepareOnly }: { prepare: boolean }) => {
      const file = secretsFile();
      const { generation, active } = await rotateSecrets(file, pool, { prepareOnly, act });
      out.result(
        { generation, active },
        active
          ? `generation ${generation} is in use. Back up ${file} again`
          : `generation ${generation} is in ${file}, but not in use yet. Copy the file, then run \`secrets rotate\``,
      );
    });

const status = () =>
  command("status", "Count the cards and passwords that are still hashed under older secrets").run(
    async ({ pool, out, secretsFile }) => {
      const prepared = await countPrepared(secretsFile(), pool);
      const { generations, oldCards, oldPasswords } = await countByGeneration(pool);
      const newest = generations.at(-1)?.generation ?? 1;
      out.result(
        { generation: newest, prepared, old_cards: oldCards, old_passwords: oldPasswords, generations },
        [
          ...generations.map(
            ({ generation, created_at, cards }) =>
              `generation ${generation}${generation === newest ? " (in use)" : ""}\tsince ${created_at.toISOString()}\t${cards} cards`,
          ),
          `${oldCards} cards and ${oldPasswords} passwords are still under older secrets`,
          ...(prepared > 0 ? ["one more generation is prepared. `secrets rotate` starts to use it"] : []),
        ].join("\n"),
      );
    },
  );

export const secretsCommand = (group: Command): Command => group.addCommand(rotate()).addCommand(status());
