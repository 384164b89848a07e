import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { confirmOrder, explainRefusal, prepareCompletion } from "../completion/prepare.js";
import type { Release } from "../context/cart-leases.js";
import type { Leave } from "../context/completion-queue.js";
import { contextOf } from "../context/context.js";
import { nameOf, toMedusaError } from "../errors.js";
import { ordersOfCart } from "../medusa-tables/carts.js";
import { findSoldOut, type SoldOutItem } from "../medusa-tables/stock.js";
import { PLAN } from "../names.js";
import { onEnd, replaceBody } from "./answer.js";

/** Seconds until a page should ask again. */
const RETRY_AFTER = "1";
/** How long a call waits for its turn before the page has to ask again. */
const WAIT_MS = 20_000;
const IN_PROGRESS = "payment_in_progress";
/** Medusa's code for a failure that it doesn't know, such as a lock that somebody else had for too long. */
const UNKNOWN = "unknown_error";
/** How Medusa's message begins if the last unit was taken meanwhile. It names internal ids, and has no code. */
const TAKEN = "Not enough stock available";

/** Medusa's response, or the plugin's in its place. */
interface Answer {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly order?: { readonly id?: string };
  /** The item that is sold out. */
  readonly title?: string;
}

/**
 * Admits completions of carts in the order of their arrival. A page whose turn doesn't come in time is asked to call
 * again, with 409 and Retry-After. A cart whose items are sold out is refused before Medusa creates an order for it.
 */
export async function admitCompletion(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const cartId = String(req.params.id);
  const patience = new AbortController();
  const giveUp = () => patience.abort();
  res.once("close", giveUp);
  if (res.destroyed) return;
  const timer = setTimeout(giveUp, WAIT_MS);
  try {
    const turn = await waitForTurn(req, cartId, patience.signal);
    if (turn === null) return void (res.destroyed ? res.end() : res.json(askToRetry(res)));
    if (turn !== "passes") {
      onEnd(res, turn);
      const soldOut = await readSoldOut(req, cartId);
      if (res.destroyed) return void res.end();
      if (soldOut?.refusal === "later") return void res.json(askToRetry(res));
      if (soldOut?.refusal === "now") return void res.status(400).json(describe(soldOut));
    }
    replaceBody(res, next, (body) => explain(req, res, cartId, body as Answer));
  } finally {
    clearTimeout(timer);
  }
  next();
}

/** @returns `passes` if the cart needs no turn; null if it got none before the signal */
async function waitForTurn(req: MedusaRequest, cartId: string, signal: AbortSignal): Promise<Leave | "passes" | null> {
  for (;;) {
    if (await mayPass(req, cartId)) return "passes";
    const turn = await contextOf(req.scope).completions.enter(cartId, signal);
    if (turn !== "again") return turn;
  }
}

/** Tells whether a cart needn't wait behind others: Medusa answers with the order that it has. */
async function mayPass({ scope }: MedusaRequest, cartId: string): Promise<boolean> {
  const { completions, sql } = contextOf(scope);
  if (!completions.isBusy() || completions.isRunning(cartId)) return false;
  return (await ordersOfCart(sql, cartId)).length > 0;
}

/** Reads whether one of the cart's items is sold out. A shop whose stock can't be read sells as without this check. */
async function readSoldOut({ scope }: MedusaRequest, cartId: string): Promise<SoldOutItem | null> {
  const { sql, logger } = contextOf(scope);
  try {
    return await findSoldOut(sql, cartId);
  } catch (error) {
    logger.warn(`giftcard: the stock of cart ${cartId} can't be read: ${nameOf(error)}`);
    return null;
  }
}

/** Gives a refusal of a completion the status and the code that a page needs. */
async function explain(req: MedusaRequest, res: MedusaResponse, cartId: string, body: Answer): Promise<unknown> {
  if (res.statusCode < 400) return body;
  if (body?.code === IN_PROGRESS) return askToRetry(res, body.message);
  const { completions, leases } = contextOf(req.scope);
  // Without cards or a rush, the conflict is Medusa's own.
  if (res.statusCode === 409) return completions.isBusy() || leases.isHeld(cartId) ? askToRetry(res) : body;
  const isFault = res.statusCode >= 500;
  if (!isFault && body?.code !== undefined && body.code !== UNKNOWN) return body;
  const soldOut = await readSoldOut(req, cartId);
  if (soldOut?.refusal === "later") return askToRetry(res);
  if (soldOut) {
    res.status(400);
    return describe(soldOut);
  }
  const isTransient = isFault || body?.message?.startsWith(TAKEN);
  return isTransient && completions.mayRepeat(cartId) ? askToRetry(res) : body;
}

function askToRetry(
  res: MedusaResponse,
  message = "Many orders are being placed at this moment. Try again in a second.",
): Answer {
  res.status(409).set("Retry-After", RETRY_AFTER);
  return { type: MedusaError.Types.CONFLICT, code: IN_PROGRESS, message };
}

function describe({ title, left }: SoldOutItem): Answer {
  const what = left === 0 ? `“${title}” is sold out.` : `Only ${left} of “${title}” are left.`;
  return {
    type: MedusaError.Types.NOT_ALLOWED,
    code: MedusaError.Codes.INSUFFICIENT_INVENTORY,
    message: `${what} No order was placed.`,
    title,
  };
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
    replaceBody(res, next, (body) => checkAnswer(req, res, { cartId, release }, body as Answer | null));
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
  answer: Partial<Answer> | null,
): Promise<unknown> {
  const { type, code, message, order } = answer ?? {};
  if (type === "order" && order?.id !== undefined) {
    await confirmOrder(req.scope, cartId, order.id, release).catch((error: unknown) => {
      throw toMedusaError(error, contextOf(req.scope).logger);
    });
    return answer;
  }
  if (res.statusCode < 400 || (code !== undefined && code !== UNKNOWN)) return answer;
  // Medusa refuses without a code, or waited in vain for its lock while another process completes the cart. Its error
  // handler is the last one, so the reason has to be sent from here.
  const why = await explainRefusal(req.scope, cartId, { status: res.statusCode, message: message ?? "" });
  if (!why) return answer;
  res.status(400);
  return { type: MedusaError.Types.NOT_ALLOWED, code: why.code, message: why.message };
}
