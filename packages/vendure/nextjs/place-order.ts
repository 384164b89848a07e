"use client";

import { payOrder } from "./actions";
import { GIFT_CARDS, type Refusal } from "./shop";
import { change, loadGiftCards, shownAmounts, textOf } from "./state";

/**
 * Places the order, in place of the starter's own function: the cards are charged first, and the chosen method pays what
 * is left. The page moves on to the confirmation.
 *
 * @throws {Error} if the order was not placed. The review step shows the reason.
 */
export async function placeOrder(methodCode: string): Promise<void> {
  change({ failure: undefined });
  const other = methodCode === GIFT_CARDS ? null : methodCode;
  const refusal = await payOrder(shownAmounts(), other).catch(ifLost);
  if (!refusal) return;
  await loadGiftCards();
  change({ failure: textOf(refusal) });
  throw new Error(refusal.code);
}

/** Handles a call that did not reach Next.js. Anything else, such as its redirect, is thrown again. */
function ifLost(error: unknown): Refusal {
  if (error instanceof TypeError) return { code: "offline" };
  throw error;
}
