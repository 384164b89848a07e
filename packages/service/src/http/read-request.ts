import { IDEMPOTENCY_KEY_HEADER, idempotencyKeyPattern } from "@giftcard-pay/client/contract";
import * as z from "zod";
import type { HttpAnswer } from "./answer.js";
import { BodyRefusal } from "./body.js";
import { type CallContext, headerOf, takesKey } from "./call-context.js";

/** Validates the parameters and stores them in the context. @returns the refusal if they are invalid */
export function validateRequest(call: CallContext, parameters: unknown): HttpAnswer | undefined {
  const { row, exchange } = call;
  if (parameters instanceof BodyRefusal) {
    const { code, isUnread } = parameters;
    return code === "overloaded" ? call.refuseOverload({ isUnread }) : call.refuse(code, { isUnread });
  }
  const request = z.safeDecode(row.request, parameters as never);
  if (!request.success) {
    const { issues } = request.error;
    const named = row.required ? issues.filter(({ path: [field] }) => isGiven(parameters, field)) : issues;
    return call.refuse("invalid_request", { faults: named.map(faultOf) });
  }
  const idempotencyKey = takesKey(row) ? headerOf(exchange.incoming, IDEMPOTENCY_KEY_HEADER) : undefined;
  if (idempotencyKey !== undefined && !idempotencyKeyPattern.test(idempotencyKey))
    return call.refuse("idempotency_key_invalid");
  call.request = request.data;
  call.idempotencyKey = idempotencyKey;
  return undefined;
}

const isGiven = (parameters: unknown, field: PropertyKey | undefined) =>
  (Object(parameters) as Record<PropertyKey, unknown>)[field ?? ""] !== undefined;

const faultOf = (issue: z.core.$ZodIssue) => ({ path: issue.path.join("."), message: issue.message });
