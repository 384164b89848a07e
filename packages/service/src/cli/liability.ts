import { formatCents } from "@giftcard-pay/client/contract";
import { Option } from "commander";
import {
  type Liability,
  type LiabilityPeriod,
  type LiabilitySum,
  liabilityPeriods,
  readLiability,
} from "../store/liability.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { csvHead, csvLine, formatOf } from "./rows.js";

/** `liability` */
export const liabilityCommand = () =>
  command("liability", "Sum up the unspent balances of all cards, by expiry")
    .addOption(new Option("--by <period>", "by day, month or year of expiry").choices(liabilityPeriods).default("year"))
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText("after", "\nThe total equals the balance that `check` shows. Unsold stock is not part of it.")
    .action((options: CommonOptions & { by: LiabilityPeriod; csv: boolean }) => {
      const format = formatOf(options);
      return withContext(options, async ({ pool, out }) => {
        const liability = await readLiability(pool, options.by);
        const { at, total, inactiveCards, inactiveCents } = liability;
        const periods = liability.periods.map(({ expires, ...sum }) => ({ expires, ...wireOf(sum) }));
        out.result(
          {
            at,
            by: options.by,
            periods,
            total: wireOf(total),
            inactive_cards: inactiveCards,
            inactive_balance: inactiveCents,
          },
          format === "csv" ? csvOf(periods, wireOf(total)) : tableOf(liability),
        );
      });
    });

const wireOf = (sum: LiabilitySum) => ({
  cards: sum.cards,
  balance: sum.balanceCents,
  expired_cards: sum.expiredCards,
  expired_balance: sum.expiredCents,
  blocked_cards: sum.blockedCards,
  blocked_balance: sum.blockedCents,
});

const csvOf = (periods: readonly object[], total: object): string =>
  [csvHead(["expires", ...Object.keys(total)]), ...periods.map((period) => csvLine(Object.values(period)))]
    .join("")
    .trimEnd();

function tableOf({ periods, total, inactiveCards, inactiveCents }: Liability): string {
  const cells = (name: string, sum: LiabilitySum) =>
    [
      name.padEnd(10),
      String(sum.cards).padStart(9),
      ...[sum.balanceCents, sum.expiredCents, sum.blockedCents].map((cents) => formatCents(cents).padStart(15)),
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
    `not sold yet: ${inactiveCards} cards, ${formatCents(inactiveCents)} EUR`,
  ].join("\n");
}
