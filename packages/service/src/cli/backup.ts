import path from "node:path";
import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { backUp, putBack } from "../postgres/backup.js";
import { writeAudit } from "../store/audit.js";
import { checkLedger } from "../store/ledger-check.js";
import { command } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { outputOf } from "./output.js";

const KEEP_SECRETS =
  "The secrets file is not in the backup. Keep a copy of it elsewhere: without it no card can be found.";

export const backupCommand = () =>
  command("backup", "Copy the built-in database while it is running")
    .requiredOption("--to <folder>", "a folder that does not exist yet")
    .addHelpText("after", `\n${KEEP_SECRETS}`)
    .action((options: CommonOptions & { readonly to: string }) => {
      requireBuiltIn(options);
      return withContext(options, async ({ databaseUrl, out, secretsFile }) => {
        const target = path.resolve(options.to);
        const dataDir = path.resolve(options.dataDir);
        const progress = out.progress("MB copied");
        const onProgress = (copied: number) => progress(megabytes(copied));
        const { bytes, made_at } = await backUp({ dataDir, url: databaseUrl, target, onProgress });
        out.warn(`${KEEP_SECRETS} Its path: ${secretsFile()}.`);
        out.result(
          { backup: target, bytes, made_at, secrets_file: secretsFile() },
          `backup of ${megabytes(bytes)} MB in ${target}`,
        );
      });
    });

export const restoreCommand = () =>
  command("restore", "Restore a backup into a data directory without a database, and check its ledger")
    .audited({ isReasonRequired: false })
    .requiredOption("--from <folder>", "a folder that `backup` created")
    .addHelpText(
      "after",
      "\nFirst put the secrets file that belongs to the backup into the data directory, or set\n" +
        "GIFTCARD_SECRETS_FILE. Without it nothing is restored.",
    )
    .action(async (options: CommonOptions & { readonly from: string }) => {
      requireBuiltIn(options);
      const { dbUser } = options;
      const dataDir = path.resolve(options.dataDir);
      const progress = outputOf(options.json).progress("MB copied");
      const onProgress = (copied: number, total: number) => progress(megabytes(copied), megabytes(total));
      const { note, undo } = await putBack({ dataDir, source: path.resolve(options.from), dbUser, onProgress });
      try {
        await withContext(options, async ({ pool, out, keyring, act }) => {
          await keyring();
          const { cards, ledgerRows, balanceCents, faults } = await checkLedger(pool, out.progress("rules checked"));
          if (faults.length > 0) throw new OperatorError("The ledger in this backup is wrong. Restore another backup.");
          await writeAudit(pool, act, { action: "restore", details: { made_at: note.made_at } });
          out.result(
            { data_dir: dataDir, made_at: note.made_at, cards, ledger_rows: ledgerRows, balance: balanceCents },
            `restored the backup of ${note.made_at}: ${cards} cards with ${formatCents(balanceCents)} EUR. The ledger is right`,
          );
        });
      } catch (error) {
        await undo();
        throw error;
      }
    });

const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);

function requireBuiltIn({ databaseUrl }: CommonOptions): void {
  if (databaseUrl === undefined) return;
  throw new OperatorError(
    "This command is for the built-in database. Back up your own with its tools, such as pg_basebackup or pg_dump.",
    exitCodes.usage,
  );
}
