import { formatCents } from "@giftcard-pay/client/contract";
import { changeCards } from "../store/bulk-change.js";
import { writingOff } from "../store/card-expiry.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { pastDay } from "./day-options.js";

interface ExpireOptions extends CommonOptions, ActOptions {
  readonly before: string;
  readonly dryRun: boolean;
}

/** `expire` */
export const expireCommand = () =>
  addActOptions(command("expire", "Write off the balances of cards that expired before a day"), {
    isReasonRequired: true,
  })
    .requiredOption("--before <yyyy-mm-dd>", "write off cards whose last day of validity is before this day", pastDay)
    .option("--dry-run", "count the cards and their balance, but write off none", false)
    .addHelpText(
      "after",
      "\nLeaves blocked cards, and cards that got money on that day or later, such as a refund. A written-off card can still\n" +
        "be refunded to. To give the money back, extend the card, and adjust its balance.",
    )
    .action(({ before, dryRun: isDryRun, ...options }: ExpireOptions) =>
      withContext(options, async ({ pool, out, keyring }) => {
        const order = {
          selection: { expiredBefore: before },
          change: writingOff(before),
          isDryRun,
          skipsFailed: false,
          onProgress: (done: number, total: number | undefined) => out.progress(done, total, "cards"),
        };
        const { changed, balanceCents } = await changeCards(pool, await keyring(), order, actOf(options));
        const done = isDryRun ? "would be written off; nothing was changed" : "written off";
        out.result(
          { before, cards: changed, balance: balanceCents, dry_run: isDryRun },
          `${changed} cards with ${formatCents(balanceCents)} EUR ${done}`,
        );
      }),
    );
