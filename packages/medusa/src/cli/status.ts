import type { Command } from "commander";
import { euro } from "../amount.js";
import { readStatus, type Status } from "../reports/status.js";
import { type ShopOptions, shopCommand, withShop } from "./shop.js";

const HELP = `
Exits with 1 while work is open. This command only reads the database. Recovery runs every minute in every Medusa process that
runs jobs; an admin can start it on the page Gift cards. A job is listed once it has failed.

What to do about open charges, by state:
  committed        capture its payment, or cancel its order
  reversing        wait: the shop retries until the charge is reversed
  needs_attention  decide, on the admin's page Gift cards
  others           wait a minute: recovery settles them

Medusa's db:rollback refuses to drop the tables while charges, remainders or payments without an order are open.`;

export function statusCommand(): Command {
  return shopCommand("status", "Show the open work, the jobs that fail, and what the tables keep")
    .addHelpText("after", HELP)
    .action(async (options: ShopOptions) => {
      const status = await withShop(options, ({ sql }) => readStatus(sql));
      const lines = [...openLines(status), ...jobLines(status), ...staysLines(status)];
      process.stdout.write(options.json ? `${JSON.stringify(status)}\n` : `${lines.join("\n")}\n`);
      if (!status.isEmpty) process.exitCode = 1;
    });
}

function openLines({ open }: Status): string[] {
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
  return figures.flatMap(([count, what]) => (count > 0 ? [`open   ${count} ${what}`] : []));
}

const jobLines = ({ jobs }: Status): string[] =>
  jobs.map(
    ({ kind, id, orderId, lastError }) =>
      `job    ${kind} ${id}${orderId && orderId !== id ? ` order ${orderId}` : ""}: ${lastError}`,
  );

function staysLines({ stays: { captured, decisions, appliedCards }, isEmpty }: Status): string[] {
  return [
    `stays  ${captured.count} charges captured, ${euro(captured.cents)}: without the tables, no refund reaches their cards`,
    `stays  ${decisions} decisions of people`,
    `stays  ${appliedCards} cards on carts, which were not charged: db:rollback resets these carts to their full price`,
    isEmpty
      ? "Nothing is open: the tables can be dropped."
      : "Something is open: keep the plugin installed until it is settled.",
  ];
}
