import { type Cents, formatCents } from "@giftcard-pay/client/contract";
import { Option } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import {
  type Liability,
  type LiabilityPeriod,
  type LiabilitySum,
  liabilityPeriods,
  readLiability,
  readRollForward,
} from "../store/liability.js";
import { command } from "./command.js";
import { type CommonOptions, type Context, withContext } from "./context.js";
import { checkDays, type DayOptions, pastDay } from "./day-options.js";
import { csvHead, csvRows, formatOf } from "./rows.js";

interface LiabilityOptions extends CommonOptions, DayOptions {
  readonly by: LiabilityPeriod;
  readonly csv: boolean;
  readonly at?: string;
}

export const liabilityCommand = () =>
  command("liability", "Sum up the unspent balances of all cards, by expiry, or their changes within a period")
    .addOption(new Option("--by <period>", "by day, month or year of expiry").choices(liabilityPeriods).default("year"))
    .option(
      "--at <yyyy-mm-dd>",
      "the balances at the end of this day, by the clock in Amsterdam (default: now)",
      pastDay,
    )
    .option("--from <yyyy-mm-dd>", "the first day of a roll-forward from opening to closing, by cause", pastDay)
    .option("--to <yyyy-mm-dd>", "the last day of the roll-forward, inclusive", pastDay)
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText("after", "\nThe total equals the balance that `check` shows. Unsold stock is not part of it.")
    .action((options: LiabilityOptions) => {
      const { at: day, by, from, to } = options;
      const format = formatOf(options);
      if ((from === undefined) !== (to === undefined) || (from !== undefined && day !== undefined))
        throw new OperatorError("Give --from and --to, or --at.", exitCodes.usage);
      if (from !== undefined && to !== undefined) {
        checkDays({ from, to });
        return withContext(options, (context) => printRollForward(context, { from, to }, format === "csv"));
      }
      return withContext(options, async ({ pool, out }) => {
        const liability = await readLiability(pool, by, day);
        const { at, periods, total, ...stock } = liability;
        out.result(
          { at, ...(day !== undefined && { day }), by, periods, total, ...stock },
          format === "csv" ? csvOf(periods, total) : tableOf(liability),
        );
      });
    });

async function printRollForward({ pool, out }: Context, days: { from: string; to: string }, isCsv: boolean) {
  const amounts = await readRollForward(pool, days);
  const entries: [string, Cents][] = Object.entries(amounts);
  const lines = isCsv
    ? (csvHead(["line", "amount"]) + csvRows(entries)).trimEnd()
    : entries.map(([name, cents]) => `${name.padEnd(10)}${formatCents(cents).padStart(17)}`).join("\n");
  out.result({ ...days, ...amounts }, lines);
}

const csvOf = (periods: readonly object[], total: object): string =>
  (csvHead(["expires", ...Object.keys(total)]) + csvRows(periods.map((period) => Object.values(period)))).trimEnd();

function tableOf({ periods, total, inactive_cards, inactive_balance }: Liability): string {
  const cells = (name: string, sum: LiabilitySum) =>
    [
      name.padEnd(10),
      String(sum.cards).padStart(9),
      ...[sum.balance, sum.expired_balance, sum.blocked_balance].map((cents) => formatCents(cents).padStart(15)),
    ].join("  ");
  const head = [
    "expires".padEnd(10),
    "cards".padStart(9),
    ...["balance", "expired", "blocked"].map((name) => name.padStart(15)),
  ];
  return [
    head.join("  "),
    ...periods.map((period) => cells(period.expires, period)),
    cells("total", total),
    `not sold yet: ${inactive_cards} cards, ${formatCents(inactive_balance)} EUR`,
  ].join("\n");
}
