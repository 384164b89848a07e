import { formatCents } from "@giftcard-pay/client";
import type { Command } from "commander";
import { readRecoverySettings } from "../options.js";
import type { RecoveryPlan } from "../reports/recovery-plan.js";
import { CommandFailure } from "./failure.js";
import { type ShopOptions, shopCommand, withShop } from "./shop.js";

const HELP = `
Recovery runs every minute in every Medusa process that runs jobs. An admin can start it on the page Gift cards. This
command only reads the database:

  charges  void (nothing was sent), settle (asks the service), commit (its order is paid), reverse
  orders   cancel (nobody paid), person (needs a decision), reverse (canceled, but payments remain), nothing
  jobs     note_paid, reverse, release_payment, credit_line, record_payment, unknown_refund, close_cart, open_cart`;

/** `giftcard-medusa recovery-plan`: prints the actions of the next recovery run. */
export function recoveryPlanCommand(): Command {
  return shopCommand("recovery-plan", "Show recovery's next actions, without changing anything")
    .addHelpText("after", HELP)
    .action(async (options: ShopOptions) => {
      // Imported here because it loads Medusa's workflows, which would slow down the other commands.
      const { readRecoveryPlan } = await import("../reports/recovery-plan.js");
      const plan = await withShop(options, ({ sql, configured }) =>
        readRecoveryPlan(sql, readRecoverySettings(configured)),
      ).catch((error: unknown) => {
        throw error instanceof TypeError ? new CommandFailure(error.message, 2) : error;
      });
      process.stdout.write(options.json ? `${JSON.stringify(plan)}\n` : textOf(plan));
    });
}

function textOf({ charges, orders, jobs, maxCancelsPerRun, cancelStop }: RecoveryPlan): string {
  const open = orders.filter(({ next }) => next !== "nothing");
  const cancels = orders.filter(({ next }) => next === "cancel").length;
  const lines = [
    ...charges.map(
      ({ next, reference, state, amountCents, orderId }) =>
        `charge ${reference} ${state} ${formatCents(amountCents as never)}${orderId ? ` order ${orderId}` : ""}: ${next}`,
    ),
    ...open.map(({ orderId, next, why }) => `order ${orderId}: ${next} (${why})`),
    ...jobs.map(({ kind, id, orderId }) => `${kind} ${id}${orderId && orderId !== id ? ` order ${orderId}` : ""}`),
    `${charges.length} charges, ${cancels} orders to cancel, ${open.length - cancels} other orders, ${jobs.length} jobs`,
  ];
  if (cancelStop) lines.push("Automatic cancels are stopped until a person resumes them.");
  else if (cancels > maxCancelsPerRun)
    lines.push(`Recovery cancels ${maxCancelsPerRun} of these orders, then stops until a person resumes it.`);
  return `${lines.join("\n")}\n`;
}
