import { CheckoutError, RefundError } from "@giftcard-pay/checkout";
import type { Logger } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";

/** The database's own name for a charge whose amount isn't the one of its payment in Medusa. */
const AMOUNT_CONSTRAINT = "giftcard_charge_amount";

/** A failure's parts; a workflow throws objects that aren't errors, some with the error inside. */
interface Failure {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly constraint?: string;
  readonly error?: unknown;
}

/** What a failure is called, in one line: its name and its message. */
export function nameOf(error: unknown): string {
  const { name, message } = (innermost(error) ?? {}) as Failure;
  return `${name ?? "failure"}: ${message ?? String(error)}`;
}

/**
 * What a failure of the money flow is in Medusa: a refusal keeps its text, and its code stands in `code`. Medusa's own
 * errors stay; anything else is logged here and goes no further.
 */
export function toMedusaError(thrown: unknown, logger?: Logger): MedusaError {
  const error = innermost(thrown);
  if (isMedusaError(error)) return error;
  if (error instanceof CheckoutError || error instanceof RefundError) return refusal(error);
  if ((error as Failure | null)?.constraint === AMOUNT_CONSTRAINT)
    return refusal(new CheckoutError("amount_changed"));
  logger?.error(`giftcard: ${(error as Failure | null)?.stack || nameOf(error)}`);
  const internal = new CheckoutError("internal");
  return new MedusaError(MedusaError.Types.UNEXPECTED_STATE, internal.message, internal.code);
}

const refusal = ({ message, code }: CheckoutError | RefundError) =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, message, code);

function isMedusaError(error: unknown): error is MedusaError {
  return typeof error === "object" && error !== null && MedusaError.isMedusaError(error as never);
}

function innermost(thrown: unknown): unknown {
  const inner = typeof thrown === "object" && thrown !== null ? (thrown as Failure).error : undefined;
  return inner === undefined ? thrown : innermost(inner);
}
