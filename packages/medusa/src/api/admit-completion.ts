import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { toMedusaError } from "../errors.js";
import { readStock, type SoldOutItem } from "../medusa-tables/stock.js";
import { handleAnswer } from "./answer.js";

/** Seconds until a page should ask again. */
const RETRY_AFTER = "1";
/** Messages of Medusa's locks if somebody else has one for too long, and of PostgreSQL if two wait for each other's. */
const LOCKED = /acquir\w+ lock|already locked|deadlock/i;

interface Refusal {
  readonly code?: string;
  readonly message?: string;
}

/**
 * Admits completions of carts in the order of their arrival. A page whose turn doesn't come in time is asked to call
 * again, with 409 and Retry-After. A cart whose items are sold out is refused before Medusa creates an order for it.
 */
export async function admitCompletion(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const { completions, sql, logger } = contextOf(req.scope);
  const cartId = String(req.params.id);
  // Medusa refuses it.
  if (cartId.includes("\0")) return next();
  const page = new AbortController();
  res.once("close", () => page.abort());
  try {
    const early = await readStock(sql, cartId);
    if (early.soldOut) return refuseSoldOut(res, early.soldOut);
    const leave = await completions.enter(cartId, early.items, page.signal);
    if (!leave) return page.signal.aborted ? undefined : void res.json(askToRetry(res));
    handleAnswer(res, next, { replaceBody: (body) => explain(req, res, cartId, body as Refusal), onEnd: leave });
    // If the page has disconnected, nothing has begun.
    if (page.signal.aborted) return void res.end();
    const { soldOut } = await readStock(sql, cartId);
    if (soldOut) return refuseSoldOut(res, soldOut);
  } catch (error) {
    return next(toMedusaError(error, logger));
  }
  next();
}

/** Gives a refusal by Medusa that has no code of its own the code that a page needs. */
async function explain(req: MedusaRequest, res: MedusaResponse, cartId: string, body: Refusal): Promise<unknown> {
  if (res.statusCode < 400 || (body?.code !== undefined && body.code !== "unknown_error")) return body;
  if (LOCKED.test(body?.message ?? "")) return askToRetry(res);
  const { soldOut } = await readStock(contextOf(req.scope).sql, cartId);
  if (!soldOut) return body;
  res.status(400);
  return describe(soldOut);
}

function askToRetry(res: MedusaResponse): unknown {
  res.status(409).set("Retry-After", RETRY_AFTER);
  const message = "Many orders are being placed at this moment. Your cart keeps its place: try again in a second.";
  return { type: MedusaError.Types.CONFLICT, code: "payment_in_progress", message };
}

const refuseSoldOut = (res: MedusaResponse, item: SoldOutItem) => void res.status(400).json(describe(item));

function describe({ title, left }: SoldOutItem): unknown {
  const what = left === 0 ? `“${title}” is sold out.` : `Only ${left} of “${title}” are left.`;
  return {
    type: MedusaError.Types.NOT_ALLOWED,
    code: MedusaError.Codes.INSUFFICIENT_INVENTORY,
    message: `${what} Nothing was charged.`,
  };
}
