import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { CardSelection } from "../store/bulk-change.js";
import { changeCard } from "../store/card-changes.js";
import type { CardSink } from "../store/card-issue.js";
import type { CardReference } from "../store/card-lookup.js";
import { type ReissuedCard, reissuing } from "../store/card-reissue.js";
import { addCardArgument, type CardOptions, readCardReference } from "./card-argument.js";
import { addBulkOptions, type BulkOptions, changeMany, selectionOf } from "./card-bulk.js";
import { CardFile } from "./card-file.js";
import { addPrefix } from "./card-issue.js";
import { command } from "./command.js";
import { type CommonOptions, type Context, withContext } from "./context.js";

type ReissueOptions = CommonOptions & CardOptions & BulkOptions & { readonly prefix: string; readonly out?: string };

const DESCRIPTION =
  "Replace a card, or many, by one with a new number and PIN; moves the balance and closes the old card";

export const reissue = () =>
  addBulkOptions(addPrefix(addCardArgument(command("reissue", DESCRIPTION))))
    .option("--out <file>", "with --batch or --file: write the new cards into this CSV file, which only you can read")
    .audited({ isReasonRequired: true })
    .addHelpText(
      "after",
      "\nNumber and PIN are shown only now. Cancel tokens of the old card keep working: their money goes to the new card.\n" +
        "The new card has the old one's expiry date, and is not blocked.",
    )
    .action(async (argument: string | undefined, options: ReissueOptions) => {
      const selection = selectionOf(argument, options);
      if ((selection === undefined || options.dryRun) !== (options.out === undefined))
        throw new OperatorError("--out is required with --batch or --file, unless with --dry-run.", exitCodes.usage);
      if (selection) return withContext(options, (context) => reissueMany(context, selection, options));
      const reference = await readCardReference(argument, options);
      return withContext(options, (context) => reissueOne(context, reference, options.prefix));
    });

async function reissueOne({ pool, out, keyring, act }: Context, reference: CardReference, prefix: string) {
  let made: readonly ReissuedCard[] = [];
  const sink: CardSink<ReissuedCard> = {
    begin: async () => void (made = []),
    take: async (cards) => void (made = cards),
    end: async () => {},
  };
  const keys = await keyring();
  await changeCard(pool, keys, reference, reissuing(keys, prefix, sink), act);
  const { id: card, cardNumber, pin, balanceCents, expiryDate, replaces } = made[0] as ReissuedCard;
  const shown = {
    card,
    cardnumber: cardNumber.reveal(),
    pin: pin.reveal(),
    balance: balanceCents,
    expiry_date: expiryDate,
    replaces,
  };
  out.result(
    shown,
    `cardnumber ${shown.cardnumber}  pin ${shown.pin}  expires ${expiryDate}  card ${card}, replaces card ${replaces}, ` +
      `balance ${formatCents(balanceCents)} EUR`,
  );
}

async function reissueMany(context: Context, selection: CardSelection, options: ReissueOptions) {
  const { prefix, out = "" } = options;
  const file = new CardFile<ReissuedCard>(out, {
    columns: ["card", "replaces", "cardnumber", "pin", "balance", "expiry_date"],
    cells: ({ id, replaces, cardNumber, pin, balanceCents, expiryDate }) => [
      id,
      replaces,
      cardNumber.reveal(),
      pin.reveal(),
      balanceCents,
      expiryDate,
    ],
    proof: "`card show --card` finds the first card in the file",
  });
  await changeMany(context, {
    selection,
    change: reissuing(await context.keyring(), prefix, file),
    participle: "reissued",
    options,
    around: options.dryRun ? undefined : (work) => file.fill(work, ({ isDone, changed }) => isDone && changed > 0),
    further: options.dryRun ? {} : { out },
  });
}
