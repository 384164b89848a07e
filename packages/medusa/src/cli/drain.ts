import { formatCents } from "@giftcard-pay/client";
import type { Command } from "commander";
import { type Drain, readDrain } from "../reports/drain.js";
import { type ShopOptions, shopCommand, withShop } from "./shop.js";

const HELP = `
Exits with 1 while work is open. The action for each state:

  committed        capture its payment, or cancel its order
  reversing        wait: the shop retries until the charge is reversed
  needs_attention  decide, on the admin's page Gift cards
  others           wait a minute: recovery settles them

Medusa's db:rollback refuses to drop the tables while charges, remainders or such payments are open.`;

/** `giftcard-medusa drain`: shows the open work before the plugin is uninstalled, and the data that the tables keep. */
export function drainCommand(): Command {
  return shopCommand("drain", "Show the open work before the plugin is uninstalled, and the remaining data")
    .addHelpText("after", HELP)
    .action(async (options: ShopOptions) => {
      const drain = await withShop(options, ({ sql }) => readDrain(sql));
      process.stdout.write(options.json ? `${JSON.stringify(drain)}\n` : textOf(drain));
      if (!drain.isEmpty) process.exitCode = 1;
    });
}

const euro = (cents: number): string => formatCents(cents as never);

function textOf({ open, stays, isEmpty }: Drain): string {
  const { captured, decisions, appliedCards } = stays;
  const figures: [number, string][] = [
    ...Object.entries(open.charges).map(([state, { count, cents }]): [number, string] => [
      count,
      `charges ${state}, ${euro(cents)}`,
    ]),
    [open.pendingRemainders, "remainders that another method has promised to pay"],
    [open.unpaidOrders, "orders that nobody paid"],
    [open.releases, "payments without an order, to be canceled or refunded"],
    [open.failingJobs, "jobs that fail"],
  ];
  const lines = figures.flatMap(([count, what]) => (count > 0 ? [`open   ${count} ${what}`] : []));
  return [
    ...lines,
    `stays  ${captured.count} charges captured, ${euro(captured.cents)}: without the tables, no refund reaches their cards`,
    `stays  ${decisions} decisions of people`,
    `stays  ${appliedCards} cards on carts, which were not charged: db:rollback resets these carts to their full price`,
    isEmpty
      ? "Nothing is open: the tables can be dropped."
      : "Something is open: keep the plugin installed until it is settled.",
    "",
  ].join("\n");
}
