import { formatCents } from "@giftcard-pay/client/contract";
import { changeCards } from "../store/bulk-change.js";
import { writingOff } from "../store/card-changes.js";
import { command } from "./command.js";
import { pastDay } from "./day-options.js";

export const expireCommand = () =>
  command("expire", "Write off the balances of cards that expired before a day")
    .audited({ isReasonRequired: true })
    .requiredOption("--before <yyyy-mm-dd>", "write off cards whose last day of validity is before this day", pastDay)
    .option("--dry-run", "count the cards and their balance, but write off none", false)
    .addHelpText(
      "after",
      "\nLeaves blocked cards, and cards that got money on that day or later, such as a refund. A written-off card can still\n" +
        "be refunded to. To give the money back, extend the card, and adjust its balance.",
    )
    .run(async ({ pool, out, keyring, act }, { before, dryRun: isDryRun }: { before: string; dryRun: boolean }) => {
      const selection = { expiredBefore: before };
      const order = {
        selection,
        change: writingOff(before),
        isDryRun,
        skipsFailed: false,
        onProgress: out.progress("cards"),
      };
      const { changed, balanceCents } = await changeCards(pool, await keyring(), order, act);
      const done = isDryRun ? "would be written off; nothing was changed" : "written off";
      out.result(
        { before, cards: changed, balance: balanceCents, dry_run: isDryRun },
        `${changed} cards with ${formatCents(balanceCents)} EUR ${done}`,
      );
    });
