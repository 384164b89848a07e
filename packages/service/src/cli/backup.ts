import path from "node:path";
import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { backUp, putBack } from "../postgres/backup.js";
import { writeAudit } from "../store/audit.js";
import { checkLedger } from "../store/ledger-check.js";
import { version } from "../version.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";

const KEEP_SECRETS =
  "The secrets file is not in it. Keep it with every backup, in a place of its own: without it no card is found.";

/** `backup` */
export const backupCommand = () =>
  command("backup", "Copy the built-in database while it serves")
    .requiredOption("--to <folder>", "a folder that is not there yet")
    .addHelpText("after", `\n${KEEP_SECRETS}`)
    .action((options: CommonOptions & { readonly to: string }) => {
      refuseOthers(options);
      return withContext(options, async ({ databaseUrl, out, secretsFile }) => {
        const target = path.resolve(options.to);
        const dataDir = path.resolve(options.dataDir);
        const { bytes, made_at } = await backUp({ dataDir, url: databaseUrl, target, version });
        out.warn(`${KEEP_SECRETS} It is ${secretsFile()}.`);
        out.result(
          { backup: target, bytes, made_at, secrets_file: secretsFile() },
          `backup of ${Math.round(bytes / 1024 / 1024)} MB in ${target}`,
        );
      });
    });

/** `restore` */
export const restoreCommand = () =>
  addActOptions(
    command("restore", "Put a backup into a data directory that holds no database, and prove its ledger"),
    { isReasonRequired: false },
  )
    .requiredOption("--from <folder>", "what `backup` made")
    .addHelpText(
      "after",
      "\nFirst put the secrets file that belongs to the backup into the data directory, or name it with\n" +
        "GIFTCARD_SECRETS_FILE: without the right one nothing is restored.",
    )
    .action(async (options: CommonOptions & ActOptions & { readonly from: string }) => {
      refuseOthers(options);
      const { dbUser } = options;
      const dataDir = path.resolve(options.dataDir);
      const { note, undo } = await putBack({ dataDir, source: path.resolve(options.from), dbUser });
      try {
        await withContext(options, async ({ pool, out, keyring }) => {
          await keyring();
          const { cards, ledgerRows, balanceCents, faults } = await checkLedger(pool);
          if (faults.length > 0)
            throw new OperatorError("The backup's ledger is wrong. Restore another one.");
          await writeAudit(pool, actOf(options), { action: "restore", details: { made_at: note.made_at } });
          out.result(
            {
              data_dir: dataDir,
              made_at: note.made_at,
              cards,
              ledger_rows: ledgerRows,
              balance: balanceCents,
            },
            `restored the backup of ${note.made_at}: ${cards} cards with ${formatCents(balanceCents)} EUR, and the ledger is right`,
          );
        });
      } catch (error) {
        await undo();
        throw error;
      }
    });

function refuseOthers({ databaseUrl }: CommonOptions): void {
  if (databaseUrl === undefined) return;
  throw new OperatorError(
    "This works on the built-in database alone. Back yours up with its own tools, as pg_basebackup or pg_dump.",
    exitCodes.usage,
  );
}
