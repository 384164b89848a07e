import { formatCents } from "@giftcard-pay/client/contract";
import type { Command } from "commander";
import { readPages } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { activateBatch, activateCard, batchesStatement, type CardBatch } from "../store/card-activate.js";
import { type ImportOutcome, importCards } from "../store/card-import.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { addCardArgument, type CardOptions, readCardReference } from "./card-argument.js";
import { readCardFile } from "./card-file.js";
import { cardLine, shownCard } from "./card-show.js";
import { type CommonOptions, type Context, command, withContext } from "./context.js";
import { identifier } from "./output.js";
import { printRows } from "./rows.js";

type ActivateOptions = CommonOptions & CardOptions & ActOptions & { readonly batch?: number };

const activate = () =>
  addActOptions(
    addCardArgument(
      command(
        "activate",
        "Activate a card, or a whole batch, when it is sold: then it holds what it was issued for",
      ),
    ),
    { isReasonRequired: false },
  )
    .option("--batch <id>", "all of this batch, as `card batches` names it, in place of one card", identifier)
    .addHelpText(
      "after",
      "\nOf a batch, cards that are blocked or have expired stay inactive, and are counted.",
    )
    .action(async (argument: string | undefined, options: ActivateOptions) => {
      const { batch, card } = options;
      if (batch !== undefined && (argument !== undefined || card !== undefined))
        throw new OperatorError("Name a card or --batch, not both.", exitCodes.usage);
      if (batch !== undefined) return withContext(options, (context) => activateAll(context, batch, options));
      const reference = await readCardReference(argument, options);
      return withContext(options, async ({ pool, out, keyring }) => {
        const active = await activateCard(pool, await keyring(), reference, actOf(options));
        out.result(shownCard(active), cardLine(active));
      });
    });

async function activateAll({ pool, out }: Context, batch: number, options: ActOptions): Promise<void> {
  const { cards, balanceCents, skipped } = await activateBatch(pool, batch, actOf(options), (done, total) =>
    out.progress(done, total, "cards"),
  );
  if (skipped > 0) out.warn(`${skipped} cards stay inactive: they are blocked or have expired`);
  out.result(
    { batch, cards, balance: balanceCents, skipped },
    `batch ${batch}: ${cards} cards activated, with ${formatCents(balanceCents)} EUR`,
  );
}

type ImportOptions = CommonOptions & ActOptions & { readonly dryRun: boolean; readonly inactive: boolean };

const importFile = () =>
  addActOptions(command("import", "Import cards that exist elsewhere, all or none, as a batch"), {
    isReasonRequired: false,
  })
    .argument(
      "<file>",
      "comma-separated values whose first line names the columns cardnumber, pin, balance, expiry_date",
    )
    .option("--inactive", "they are not sold yet: `card activate` puts their balance on them", false)
    .option("--dry-run", "look at every line, and import nothing", false)
    .addHelpText(
      "after",
      "\nBalances are whole cents, dates yyyy-mm-dd. With one faulty line nothing is imported, and all faults are listed by\n" +
        "their lines; nothing of what stands there is repeated. Delete the file when you are done: it holds numbers and PINs.",
    )
    .action((file: string, options: ImportOptions) =>
      withContext(options, async ({ pool, out, keyring }) => {
        const outcome = await importCards(
          pool,
          await keyring(),
          {
            read: (onFault) => readCardFile(file, onFault),
            isInactive: options.inactive,
            isDryRun: options.dryRun,
            onProgress: (done, total) => out.progress(done, total, total ? "cards imported" : "lines read"),
          },
          actOf(options),
        );
        refuseFaulty(outcome);
        const { batchId, cards, balanceCents, expired } = outcome;
        if (expired > 0) out.warn(`${expired} of the cards have expired already`);
        const done = options.dryRun ? "could be imported; nothing was" : `imported as batch ${batchId}`;
        out.result(
          { batch: batchId, cards, balance: balanceCents, expired, dry_run: options.dryRun },
          `${cards} cards with ${formatCents(balanceCents)} EUR ${done}`,
        );
      }),
    );

/** @throws {OperatorError} that names each faulty line */
function refuseFaulty({ faults }: ImportOutcome): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ line, fault }) => `line ${line}: ${fault}`).join("\n");
  const what = `${faults.length} of the lines can't be imported, so nothing was:`;
  throw new OperatorError(`${what}\n${lines}`, exitCodes.failed, { faults });
}

const batches = () =>
  command("batches", "List the batches of cards: what they hold, and what is not sold yet").action(
    (options: CommonOptions) =>
      withContext(options, ({ pool }) =>
        printRows<CardBatch>((onPage) => readPages(pool, batchesStatement(), onPage), {
          format: options.json ? "json" : "text",
          wire: (batch) => ({
            batch: batch.id,
            origin: batch.origin,
            created_at: batch.createdAt,
            cards: batch.cards,
            balance: batch.balanceCents,
            inactive_cards: batch.inactiveCards,
            inactive_balance: batch.inactiveCents,
          }),
          line: (batch) =>
            [
              `batch ${batch.id}`,
              `${batch.origin} ${batch.createdAt.toISOString()}`,
              `${batch.cards} cards with ${formatCents(batch.balanceCents)} EUR`,
              `${batch.inactiveCards} inactive for ${formatCents(batch.inactiveCents)} EUR`,
            ].join("\t"),
          none: "no batches",
        }),
      ),
  );

/** `card activate|import|batches` */
export const cardStock = (): Command[] => [activate(), importFile(), batches()];
