import { CheckoutError } from "@giftcard-pay/checkout";
import type { Logger } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";

/**
 * What a failure of the money flow is in Medusa: a refusal keeps its text, and its code stands in `code`. Medusa's own
 * errors stay; anything else is logged here and goes no further.
 */
export function toMedusaError(error: unknown, logger?: Logger): MedusaError {
  if (MedusaError.isMedusaError(error)) return error as MedusaError;
  if (error instanceof CheckoutError) {
    return new MedusaError(MedusaError.Types.NOT_ALLOWED, error.message, error.code);
  }
  logger?.error(`giftcard: ${error instanceof Error ? (error.stack ?? error.message) : "unknown failure"}`);
  const internal = new CheckoutError("internal");
  return new MedusaError(MedusaError.Types.UNEXPECTED_STATE, internal.message, internal.code);
}
