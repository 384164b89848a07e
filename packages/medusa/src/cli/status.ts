import type { Command } from "commander";
import { euro } from "../amount.js";
import { readRecoverySettings } from "../options.js";
import type { Status } from "../reports/status.js";
import { CommandFailure } from "./failure.js";
import { type ShopOptions, shopCommand, withShop } from "./shop.js";

const HELP = `
Exits with 1 while work is open. This command only reads the database. Recovery runs every minute in every Medusa process that
runs jobs; an admin can start it on the page Gift cards.

What to do about open charges, by state:
  committed        capture its payment, or cancel its order
  reversing        wait: the shop retries until the charge is reversed
  needs_attention  decide, on the admin's page Gift cards
  others           wait a minute: recovery settles them

Recovery's next actions:
  charge  void (nothing was sent), settle (asks the service), commit (its order is paid), reverse
  order   cancel (nobody paid), person (needs a decision), reverse (canceled, but payments remain)
  others  a job of that kind, such as capture or record_payment

Medusa's db:rollback refuses to drop the tables while charges, remainders or payments without an order are open.`;

export function statusCommand(): Command {
  return shopCommand("status", "Show the open work, recovery's next actions, and what the tables keep")
    .addHelpText("after", HELP)
    .action(async (options: ShopOptions) => {
      // Imported here because it loads Medusa's workflows, which would slow down the other commands.
      const { readStatus } = await import("../reports/status.js");
      const status = await withShop(options, ({ sql, configured }) =>
        readStatus(sql, readRecoverySettings(configured)),
      ).catch((error: unknown) => {
        throw error instanceof TypeError ? new CommandFailure(error.message, 2) : error;
      });
      const lines = [...openLines(status), ...nextLines(status), ...staysLines(status)];
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

function nextLines({ next: { charges, orders, jobs, maxCancelsPerRun, cancelStop } }: Status): string[] {
  const cancels = orders.filter(({ next }) => next === "cancel").length;
  const lines = [
    ...charges.map(
      ({ next, reference, state, amountCents, orderId }) =>
        `charge ${reference} ${state} ${euro(amountCents)}${orderId ? ` order ${orderId}` : ""}: ${next}`,
    ),
    ...orders
      .filter(({ next }) => next !== "nothing")
      .map(({ orderId, next, why }) => `order ${orderId}: ${next} (${why})`),
    ...jobs.map(({ kind, id, orderId }) => `${kind} ${id}${orderId && orderId !== id ? ` order ${orderId}` : ""}`),
  ];
  if (cancelStop) lines.push("automatic cancels are stopped until a person resumes them");
  else if (cancels > maxCancelsPerRun)
    lines.push(`recovery cancels ${maxCancelsPerRun} of ${cancels} orders, then stops until a person resumes it`);
  return lines.map((line) => `next   ${line}`);
}

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
