import type { Command } from "commander";
import { countByGeneration, countPrepared, rotateSecrets } from "../store/secret-generations.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";

const rotate = () =>
  addActOptions(command("rotate", "Make new secrets and begin to use them, while the service runs"), {
    isReasonRequired: false,
  })
    .option("--prepare", "only put them into the file, so that it can be carried to other hosts first", false)
    .addHelpText(
      "after",
      "\nNew cards are hashed under the new secrets at once, and each old card from its next use with the right PIN.\n" +
        "The file keeps the old ones, which old cards need: back it up again. Where several hosts serve, each with a file\n" +
        "of its own: `rotate --prepare`, copy the file to all of them, `rotate`.",
    )
    .action((options: CommonOptions & ActOptions & { prepare: boolean }) =>
      withContext(options, async ({ pool, out, secretsFile }) => {
        const file = secretsFile();
        const { generation, active } = await rotateSecrets(file, pool, {
          prepareOnly: options.prepare,
          act: actOf(options),
        });
        out.result(
          { generation, active },
          active
            ? `generation ${generation} is in use; back up ${file} again`
            : `generation ${generation} is in ${file} and not in use yet: copy the file, then run \`secrets rotate\``,
        );
      }),
    );

const status = () =>
  command("status", "Show how many cards and passwords are still hashed under older secrets").action(
    (options: CommonOptions) =>
      withContext(options, async ({ pool, out, secretsFile }) => {
        const prepared = await countPrepared(secretsFile(), pool);
        const { generations, oldCards, oldPasswords } = await countByGeneration(pool);
        const newest = generations.at(-1)?.generation ?? 1;
        out.result(
          {
            generation: newest,
            prepared,
            old_cards: oldCards,
            old_passwords: oldPasswords,
            generations: generations.map(({ generation, createdAt, cards }) => ({
              generation,
              created_at: createdAt,
              cards,
            })),
          },
          [
            ...generations.map(
              ({ generation, createdAt, cards }) =>
                `generation ${generation}${generation === newest ? " (in use)" : ""}\tsince ${createdAt.toISOString()}\t${cards} cards`,
            ),
            `${oldCards} cards and ${oldPasswords} passwords are not under the newest yet`,
            ...(prepared > 0 ? ["one more is prepared; `secrets rotate` begins to use it"] : []),
          ].join("\n"),
        );
      }),
  );

/** `secrets rotate|status` */
export const secretsCommand = (group: Command): Command => group.addCommand(rotate()).addCommand(status());
