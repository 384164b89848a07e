import { formatCents } from "@giftcard-pay/client/contract";
import { today } from "../store/days.js";
import { readPaymentVolume } from "../store/payment-volume.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { pastDay } from "./day-options.js";
import { csvHead, csvRows, formatOf } from "./rows.js";

/** A limited network notifies its authority above this value in twelve months: Directive (EU) 2015/2366, Article 37(2). */
const THRESHOLD_CENTS = 100_000_000;

interface VolumeOptions extends CommonOptions {
  readonly until?: string;
  readonly csv: boolean;
}

/** `volume` */
export const volumeCommand = () =>
  command("volume", "Sum up the payments of twelve months, and compare them with the threshold of PSD2, Article 37(2)")
    .option("--until <yyyy-mm-dd>", "the last day, by the clock in Amsterdam (default: today)", pastDay)
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText(
      "after",
      "\nGross is the sum of all payments by card. Reversed is the part of them that went back to the card by the last day.\n" +
        "`exceeded` compares the gross value with the threshold: a reversed payment was executed, too.",
    )
    .action((options: VolumeOptions) => {
      const format = formatOf(options);
      return withContext(options, async ({ pool, out }) => {
        const { from, until, payments, grossCents, reversedCents } = await readPaymentVolume(
          pool,
          options.until ?? today(),
        );
        const amounts = { gross: grossCents, reversed: reversedCents, net: grossCents - reversedCents };
        const value = {
          from,
          until,
          payments,
          ...amounts,
          threshold: THRESHOLD_CENTS,
          exceeded: amounts.gross > THRESHOLD_CENTS,
          net_exceeded: amounts.net > THRESHOLD_CENTS,
        };
        const lines = Object.entries({ ...amounts, threshold: THRESHOLD_CENTS });
        const text = [
          `${payments} payments from ${from} to ${until}`,
          ...lines.map(([name, cents]) => `${name.padEnd(10)}${formatCents(cents).padStart(17)}`),
          verdictOf(value),
        ].join("\n");
        const cells = Object.values(value).map((cell) => (typeof cell === "boolean" ? String(cell) : cell));
        out.result(value, format === "csv" ? (csvHead(Object.keys(value)) + csvRows([cells])).trimEnd() : text);
      });
    });

function verdictOf({ exceeded, net_exceeded }: { exceeded: boolean; net_exceeded: boolean }): string {
  if (!exceeded) return "The threshold is not exceeded.";
  return net_exceeded ? "The threshold is exceeded." : "The threshold is exceeded, but not by the net value.";
}
