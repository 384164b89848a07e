import { type Endpoint, IDEMPOTENCY_KEY_HEADER, idempotencyKeyPattern } from "@giftcard-pay/client/contract";
import type { Context } from "hono";
import * as z from "zod";
import { BodyRefusal, readParameters } from "./body.js";
import type { BodyRoom } from "./body-room.js";
import { type Environment, headerOf, honoursKey, no, overload, type Step } from "./call-context.js";
import type { callerAddresses } from "./caller-address.js";

type AddressOf = ReturnType<typeof callerAddresses>;

/** Reads and judges what the caller sent, which takes its room until the call has been answered. */
export const readRequest =
  (row: Endpoint, room: BodyRoom, addressOf: AddressOf): Step =>
  async (c, next) => {
    const { parameters, release } = await readParameters(c.env.incoming, row, room);
    try {
      return judgeRequest(c, row, parameters, addressOf) ?? (await next());
    } finally {
      release();
    }
  };

/** @returns the refusal of what can't be taken; else it stands in the context */
function judgeRequest(
  c: Context<Environment>,
  row: Endpoint,
  parameters: unknown,
  addressOf: AddressOf,
): Response | undefined {
  if (parameters instanceof BodyRefusal) {
    const { code, isUnread } = parameters;
    return no(c, code, { isUnread, ...(code === "overloaded" && overload) });
  }
  const request = z.safeDecode(row.request, parameters as never);
  if (!request.success) {
    const { issues } = request.error;
    const named = row.required ? issues.filter(({ path: [field] }) => isGiven(parameters, field)) : issues;
    return no(c, "invalid_request", { faults: named.map(faultOf) });
  }
  const idempotencyKey = honoursKey(row) ? headerOf(c, IDEMPOTENCY_KEY_HEADER) : undefined;
  if (idempotencyKey !== undefined && !idempotencyKeyPattern.test(idempotencyKey))
    return no(c, "idempotency_key_invalid");
  c.set("request", request.data);
  c.set("call", {
    requestId: c.get("requestId"),
    authorization: headerOf(c, "Authorization"),
    idempotencyKey,
    address: addressOf(c.env.incoming),
  });
  return undefined;
}

const isGiven = (parameters: unknown, field: PropertyKey | undefined) =>
  (Object(parameters) as Record<PropertyKey, unknown>)[field ?? ""] !== undefined;

const faultOf = (issue: z.core.$ZodIssue) => ({ path: issue.path.join("."), message: issue.message });
