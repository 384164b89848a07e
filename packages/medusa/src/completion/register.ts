import type { Logger } from "@medusajs/framework/types";
import { completeCartWorkflow } from "@medusajs/medusa/core-flows";
import { completeWithGiftcards } from "./complete.js";
import { voidCompletion } from "./void.js";

type Hook = (handler: typeof completeWithGiftcards, compensate: typeof voidCompletion) => void;

/**
 * Registers the hook of Medusa's cart completion that charges the cards. Medusa allows one handler per hook, so the
 * second hook is used if another plugin has the first. Without either, orders would be placed that nobody paid.
 * Medusa swallows what is thrown here, so the process exits.
 * @param isByLine whether the shop insists on charges by line. In the second hook, no order exists yet
 */
export function registerCompletion(logger: Logger, isByLine: boolean): void {
  const hooks = completeCartWorkflow.hooks as unknown as Record<string, Hook | undefined>;
  for (const name of ["beforePaymentAuthorization", "validate"]) {
    try {
      hooks[name]?.(completeWithGiftcards, voidCompletion);
      if (hooks[name]) return;
    } catch {
      // Taken: try the next one.
    }
    if (isByLine) {
      logger.error(
        '@giftcard-pay/medusa can\'t charge gift cards by line (charges: "by-line"): the hook beforePaymentAuthorization of ' +
          "completeCartWorkflow has a handler already. Remove that handler, or the option charges. Medusa exits now.",
      );
      process.exit(1);
    }
  }
  logger.error(
    "@giftcard-pay/medusa can't charge gift cards: both hooks of completeCartWorkflow, beforePaymentAuthorization and " +
      "validate, have a handler already. Remove one of them. Medusa exits now, so that no order is placed unpaid.",
  );
  process.exit(1);
}
