import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { nameOf, toMedusaError } from "../errors.js";
import { mayRefuse, readStock, type SoldOutItem } from "../medusa-tables/stock.js";
import { handleAnswer } from "./answer.js";

/** Seconds until a page should ask again. */
const RETRY_AFTER = "1";
/** A cart that had to wait for longer is looked at again. */
const FRESH_MS = 20;
const IN_PROGRESS = "payment_in_progress";
/** Medusa's code for a failure that it doesn't know, such as a lock that somebody else had for too long. */
const UNKNOWN = "unknown_error";

interface Refusal {
  readonly type: string;
  readonly code?: string;
  readonly message: string;
}

/**
 * Admits completions of carts in the order of their arrival. A page whose turn doesn't come in time is asked to call
 * again, with 409 and Retry-After. A cart whose items are sold out is refused before Medusa creates an order for it.
 */
export async function admitCompletion(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const { completions, logger } = contextOf(req.scope);
  const cartId = String(req.params.id);
  // Medusa refuses it.
  if (cartId.includes("\0")) return next();
  const page = new AbortController();
  res.once("close", () => page.abort());
  if (res.destroyed) return;
  try {
    for (let hasPlace = false; ; ) {
      const { isOpen, items, refusal } = await lookUp(req, cartId);
      if (page.signal.aborted) return void res.end();
      // Medusa answers with the order, or for an unknown cart.
      if (!isOpen) break;
      if (refusal && refusal !== "later") return void res.status(400).json(refusal);
      if (refusal && hasPlace) return void res.json(askToRetry(res));
      if (hasPlace) break;
      const startedAt = performance.now();
      const leave = await completions.enter(cartId, items, page.signal);
      if (leave === null) return void (page.signal.aborted ? res.end() : res.json(askToRetry(res)));
      if (leave === "again") continue;
      hasPlace = true;
      handleAnswer(res, next, { onEnd: leave });
      if (!refusal && performance.now() - startedAt < FRESH_MS) break;
    }
    handleAnswer(res, next, { replaceBody: (body) => explain(req, res, cartId, body as Refusal) });
  } catch (error) {
    return next(toMedusaError(error, logger));
  }
  next();
}

/** The cart's standing, and why it can't be completed, if its items are sold out for now or for good. */
interface Standing {
  readonly isOpen: boolean;
  readonly items: number;
  readonly refusal: Refusal | "later" | null;
}

/** Reads whether the cart's items are sold out. A shop whose stock can't be read sells as without this check. */
async function lookUp({ scope }: MedusaRequest, cartId: string): Promise<Standing> {
  const { sql, logger } = contextOf(scope);
  try {
    const { isOpen, items, soldOut } = await readStock(sql, cartId);
    const may = soldOut && isOpen ? await mayRefuse(sql, cartId, soldOut.id) : "no";
    return { isOpen, items, refusal: soldOut && may === "yes" ? describe(soldOut) : may === "later" ? may : null };
  } catch (error) {
    logger.warn(`giftcard: the stock of cart ${cartId} can't be read: ${nameOf(error)}`);
    return { isOpen: true, items: 2, refusal: null };
  }
}

/** Gives a refusal of a completion the status and the code that a page needs. */
async function explain(req: MedusaRequest, res: MedusaResponse, cartId: string, body: Refusal): Promise<unknown> {
  if (res.statusCode < 400) return body;
  if (body?.code === IN_PROGRESS) return askToRetry(res, body.message);
  if (res.statusCode === 409) return askToRetry(res);
  if (body?.code !== undefined && body.code !== UNKNOWN) return body;
  const { refusal } = await lookUp(req, cartId);
  if (refusal && refusal !== "later") {
    res.status(400);
    return refusal;
  }
  const isTransient = refusal !== null || (res.statusCode >= 500 && contextOf(req.scope).completions.isBusy());
  return isTransient ? askToRetry(res) : body;
}

function askToRetry(
  res: MedusaResponse,
  message = "Many orders are being placed at this moment. Try again in a second.",
): Refusal {
  res.status(409).set("Retry-After", RETRY_AFTER);
  return { type: MedusaError.Types.CONFLICT, code: IN_PROGRESS, message };
}

function describe({ title, left }: SoldOutItem): Refusal {
  const what = left === 0 ? `“${title}” is sold out.` : `Only ${left} of “${title}” are left.`;
  return {
    type: MedusaError.Types.NOT_ALLOWED,
    code: MedusaError.Codes.INSUFFICIENT_INVENTORY,
    message: `${what} No order was placed.`,
  };
}
