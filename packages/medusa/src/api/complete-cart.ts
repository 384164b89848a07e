import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { confirmOrder, explainRefusal, prepareCompletion, type Race } from "../completion/prepare.js";
import type { Release } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";
import { toMedusaError } from "../errors.js";
import { PLAN } from "../names.js";
import { onEnd, replaceBody } from "./answer.js";

/** Medusa's code for a failure that it doesn't know. */
const UNKNOWN = "unknown_error";

/** Medusa's message if two completions had its lock at once. Its lock in PostgreSQL admits two that arrive together. */
const ORDERED_TWICE = "Cannot create multiple links";

/** Medusa's message if the cart's payment has ended since it was prepared, as when a bank cancels it. */
const NO_SESSION = "Payment sessions are required";

interface Answer {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly order?: { readonly id?: string };
}

/**
 * Prepares a cart before Medusa completes it, so that only sessions which fit the applied cards exist. Until Medusa
 * has answered, nobody else works on that cart. A second call waits, and gets the first one's order.
 */
export async function prepareCart(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  // Express removes the path's parameters before Medusa's error handler answers.
  const cartId = String(req.params.id);
  const shown = (req.body as { [PLAN]?: unknown } | undefined)?.[PLAN] ?? null;
  const shownPlan = shown === null ? null : String(shown);
  const release = await prepareCompletion(req.scope, cartId, shownPlan).catch((error: { code?: string }) => {
    // Medusa answers for an unknown cart.
    if (error.code === "cart_not_found") return null;
    throw error;
  });
  if (release) {
    // Something else, such as a timeout, has answered meanwhile: don't begin.
    if (res.writableEnded) return release();
    replaceBody(res, next, (body) => checkAnswer(req, res, { cartId, release }, body));
    onEnd(res, release);
  }
  next();
}

/**
 * Checks Medusa's response to a completion before it is sent.
 * @throws {MedusaError} if Medusa answers with an order that isn't paid, or doesn't exist any more
 */
async function checkAnswer(
  req: MedusaRequest,
  res: MedusaResponse,
  { cartId, release }: { cartId: string; release: Release },
  answer: unknown,
): Promise<unknown> {
  const { type, code, message, order } = (answer ?? {}) as Answer;
  if (type === "order" && order?.id !== undefined) {
    await confirmOrder(req.scope, cartId, order.id, release).catch((error: unknown) => {
      throw toMedusaError(error, contextOf(req.scope).logger);
    });
    return answer;
  }
  if (res.statusCode < 400 || (code !== undefined && code !== UNKNOWN)) return answer;
  // Medusa refuses without a code, or waited in vain for its lock while another process completes the cart. Its error
  // handler is the last one, so the reason has to be sent from here.
  const why = await explainRefusal(req.scope, cartId, raceOf(res.statusCode, message ?? ""));
  if (!why) return answer;
  res.status(400);
  return { type: MedusaError.Types.NOT_ALLOWED, code: why.code, message: why.message };
}

function raceOf(status: number, message: string): Race | null {
  if (message.startsWith(ORDERED_TWICE)) return "ordered";
  if (message.startsWith(NO_SESSION)) return "ended";
  return status === 404 ? "changed" : null;
}
