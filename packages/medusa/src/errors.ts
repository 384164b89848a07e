import { CheckoutError, RefundError } from "@giftcard-pay/checkout";
import type { Logger } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { type Reason, sentencesOf } from "./sentences.js";

/** The constraint that refuses a charge whose amount differs from its payment in Medusa. */
const AMOUNT_CONSTRAINT = "giftcard_charge_amount";

/** The parts of a failure. A workflow throws objects that aren't errors, some with the error inside. */
interface Failure {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly constraint?: string;
  readonly error?: unknown;
}

/** Describes a failure in one line: its name and message. */
export function nameOf(error: unknown): string {
  const { name, message } = (innermost(error) ?? {}) as Failure;
  return `${name ?? "failure"}: ${message ?? String(error)}`;
}

/** Makes the error with which Medusa answers a request that isn't possible now. */
export const refusal = (message: string, code = "invalid_request"): MedusaError =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, message, code);

/** Adds reasons to an error, whose message is their English sentences. */
export const withReasons = (error: (message: string) => MedusaError, reasons: readonly Reason[]): MedusaError =>
  Object.assign(error(sentencesOf(reasons)), { reasons });

/** Creates the error for a refund that isn't made. */
export const notRefunded = (...reasons: readonly Reason[]): MedusaError =>
  withReasons(refusal, [...reasons, { code: "nothing" }]);

/** Returns the reasons of an error that has them. */
export const reasonsOf = (error: unknown): readonly Reason[] | undefined =>
  (error as { readonly reasons?: readonly Reason[] } | null)?.reasons;

/**
 * Converts a failure of the money flow to an error of Medusa's. A refusal keeps its message and code, and Medusa's own
 * errors stay as they are. Any other failure is logged here, and its details are not passed on.
 */
export function toMedusaError(thrown: unknown, logger?: Logger): MedusaError {
  const error = innermost(thrown);
  if (isMedusaError(error)) return error;
  if (error instanceof CheckoutError || error instanceof RefundError) return refusal(error.message, error.code);
  if ((error as Failure | null)?.constraint === AMOUNT_CONSTRAINT)
    return toMedusaError(new CheckoutError("amount_changed"));
  logger?.error(`giftcard: ${(error as Failure | null)?.stack || nameOf(error)}`);
  const internal = new CheckoutError("internal");
  return new MedusaError(MedusaError.Types.UNEXPECTED_STATE, internal.message, internal.code);
}

/** The code of a database's failure. */
const SQL_STATE = /^[0-9A-Z]{5}$/;
/** A text that may contain a secret of the shop. */
const SECRET = /key|token|secret|password|authoriz/i;

/**
 * Converts the failure of another payment method that was asked for a session. A plain error is its refusal, such as of an amount
 * that is too small, and the shopper reads why.
 */
export function toRefusalOfMethod(thrown: unknown, logger: Logger): MedusaError {
  const { message, code, constraint } = (innermost(thrown) ?? {}) as Failure & { readonly code?: unknown };
  const isFault =
    isMedusaError(innermost(thrown)) || innermost(thrown) instanceof CheckoutError || constraint !== undefined;
  if (isFault || SQL_STATE.test(String(code))) return toMedusaError(thrown, logger);
  logger.warn(`giftcard: the payment method refused a session: ${nameOf(thrown)}`);
  const reason = !message || SECRET.test(message) ? "" : ` It says: ${message.split("\n")[0]?.slice(0, 200)}`;
  return refusal(
    `The payment method refused this payment. Choose another one, or change the cards.${reason}`,
    "payment_method_refused",
  );
}

function isMedusaError(error: unknown): error is MedusaError {
  return typeof error === "object" && error !== null && MedusaError.isMedusaError(error as never);
}

function innermost(thrown: unknown): unknown {
  const inner = typeof thrown === "object" && thrown !== null ? (thrown as Failure).error : undefined;
  return inner === undefined ? thrown : innermost(inner);
}
