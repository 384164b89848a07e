import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MedusaError } from "@medusajs/framework/utils";
import { confirmOrder, explainRefusal, prepareCompletion } from "../completion/prepare.js";
import type { Release } from "../context/cart-leases.js";
import { toMedusaError } from "../errors.js";
import { handleAnswer } from "./answer.js";

/** Medusa's code of a failure that it doesn't know. */
const UNKNOWN = "unknown_error";

/** What Medusa says where two completions had its lock at once: its lock in PostgreSQL lets two in that come together. */
const ORDERED_TWICE = "Cannot create multiple links";

/** What Medusa's route answers, as far as it is looked at. */
interface Answer {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly order?: { readonly id?: string };
}

/**
 * Before Medusa completes a cart: only sessions that fit the applied cards may stand there. Until Medusa has answered,
 * nobody else works at that cart: a second call waits, and gets the first one's order.
 */
export async function prepareCart(
  req: MedusaRequest,
  res: MedusaResponse,
  next: MedusaNextFunction,
): Promise<void> {
  // Express takes the path's parameters away before Medusa's error handler answers.
  const cartId = String(req.params.id);
  let release: Release | null;
  try {
    release = await prepareCompletion(req.scope, cartId);
  } catch (error) {
    const refusal = inMedusa(req, error);
    // An unknown cart, and what Medusa says of it, are Medusa's.
    return refusal.code === "cart_not_found" ? next() : next(refusal);
  }
  if (release) {
    const end = release;
    // Somebody else, such as a limit on time, has answered meanwhile: nothing is begun.
    if (res.writableEnded) return end();
    handleAnswer(res, next, {
      replaceBody: (body) => checkAnswer(req, res, { cartId, release: end }, body),
      onEnd: end,
    });
  }
  next();
}

/**
 * Looks at Medusa's answer to a completion before it is sent.
 *
 * @throws {MedusaError} where Medusa answers with an order that isn't paid, or isn't there any more
 */
async function checkAnswer(
  req: MedusaRequest,
  res: MedusaResponse,
  { cartId, release }: { cartId: string; release: Release },
  answer: unknown,
): Promise<unknown> {
  const { type, code, message, order } = (answer ?? {}) as Answer;
  if (type === "order" && order?.id !== undefined) {
    // The turn is over: confirming may have to wait for a job that waits for it.
    void release();
    await confirmOrder(req.scope, cartId, order.id).catch((error: unknown) => {
      throw inMedusa(req, error);
    });
    return answer;
  }
  if (res.statusCode < 400 || (code !== undefined && code !== UNKNOWN)) return answer;
  // Medusa refuses and gives no code, or has waited in vain for its lock while another process completes the cart. Its
  // error handler, the last one there is, has come to this: so it is answered here.
  const isOrdered = message?.startsWith(ORDERED_TWICE) ?? false;
  const race = isOrdered ? "ordered" : res.statusCode === 404 ? "changed" : null;
  const why = await explainRefusal(req.scope, cartId, race);
  if (!why) return answer;
  res.status(400);
  return { type: MedusaError.Types.NOT_ALLOWED, code: why.code, message: why.message };
}

const inMedusa = (req: MedusaRequest, error: unknown) =>
  toMedusaError(error, req.scope.resolve(ContainerRegistrationKeys.LOGGER));
