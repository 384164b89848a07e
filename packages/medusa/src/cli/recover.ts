import { formatCents } from "@giftcard-pay/client";
import type { Command } from "commander";
import { defaults } from "../context/options.js";
import type { RecoveryPlan } from "../reports/recovery-plan.js";
import { CommandFailure } from "./failure.js";
import { type ShopOptions, shopCommand, withShop } from "./shop.js";

interface RecoverOptions extends ShopOptions {
  dryRun?: boolean;
}

const HELP = `
The shop itself recovers each minute, wherever Medusa runs jobs; an admin can ask for it on the page Gift cards. This
says what that would do, from the database alone, and changes nothing:

  charges  void (nothing was sent), settle (the service is asked), commit (its order is paid), reverse
  orders   cancel (nobody paid it), person (one has to decide), reverse (canceled, and still held), nothing
  jobs     note_paid, reverse, release_payment, credit_line, record_payment, unknown_refund, close_cart, open_cart`;

/** `giftcard-medusa recover --dry-run`: what recovery would do. */
export function recoverCommand(): Command {
  return shopCommand("recover", "Say what recovery would do")
    .option("--dry-run", "say it, and change nothing")
    .addHelpText("after", HELP)
    .action(async (options: RecoverOptions) => {
      if (!options.dryRun) {
        const message = "The shop recovers by itself, each minute. Give --dry-run to see what it would do.";
        throw new CommandFailure(message, 2);
      }
      // With it come Medusa's workflows, which the other commands don't wait for.
      const { readRecoveryPlan } = await import("../reports/recovery-plan.js");
      const plan = await withShop(options, ({ sql, configured }) =>
        readRecoveryPlan(sql, {
          leaseMs: Number(configured.leaseMs ?? defaults.leaseMs),
          pendingRemainderLifeMs: Number(
            configured.pendingRemainderLifeMs ?? defaults.pendingRemainderLifeMs,
          ),
          maxCancelsPerRun: Number(configured.maxCancelsPerRun ?? defaults.maxCancelsPerRun),
          allowPendingRemainder: configured.allowPendingRemainder === true,
        }),
      );
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
    ...jobs.map(
      ({ kind, id, orderId }) => `${kind} ${id}${orderId && orderId !== id ? ` order ${orderId}` : ""}`,
    ),
    `${charges.length} charges, ${cancels} orders to cancel, ${open.length - cancels} other orders, ${jobs.length} jobs`,
  ];
  if (cancelStop) lines.push("Automatic cancels stand still until a person lets them go on.");
  else if (cancels > maxCancelsPerRun)
    lines.push(
      `Of these cancels, ${maxCancelsPerRun} are made; then recovery stops, and a person has to look.`,
    );
  return `${lines.join("\n")}\n`;
}
