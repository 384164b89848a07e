"use client";

import { en } from "@giftcard-pay/widget";
import { useSyncExternalStore } from "react";
import { type CartSummary, ENDPOINT, type Refusal, type Shown } from "./shop";

/** The gift cards of the checkout. The steps share it, because only one of them is mounted at a time. */
type State = {
  /** The order as the page shows it. */
  order: { code: string; totalCents: number };
  /** Undefined until it is loaded, and if the shop takes no gift cards for this order. */
  summary: CartSummary | undefined;
  /** Why the order was not placed. */
  failure: string | undefined;
};

const initial: State = {
  order: { code: "", totalCents: 0 },
  summary: undefined,
  failure: undefined,
};
let state = initial;
const listeners = new Set<() => void>();

export function change(part: Partial<State>): void {
  state = { ...state, ...part };
  for (const listener of listeners) listener();
}

const SETTLING_MS = 1000;
/** The order's cards get their money back within some seconds, if the issuer responds. */
const MOST_LOADS = 30;

/**
 * Loads the order's gift cards. Keeps the last ones if the shop does not respond. Loads them again while a failed attempt to
 * pay by one of them is being reversed.
 */
export async function loadGiftCards(loads = MOST_LOADS): Promise<void> {
  const { code } = state.order;
  const response = await fetch(`${ENDPOINT}/carts/${code}`, {
    cache: "no-store",
  }).catch(() => undefined);
  if (!response || response.status >= 500 || code !== state.order.code) return;
  const summary: CartSummary | undefined = response.ok ? await response.json() : undefined;
  change({ summary });
  if (loads > 1 && summary?.cards.some((card) => card.state === "settling"))
    setTimeout(() => void loadGiftCards(loads - 1), SETTLING_MS);
}

/** Returns the amounts that the page shows. Cards of another order or of another total count as none. */
export function shownAmounts({ order, summary }: State = state): Shown {
  const { code: orderCode, totalCents } = order;
  const isCurrent = summary?.cartId === orderCode && summary.totalCents === totalCents;
  return {
    orderCode,
    totalCents,
    coveredCents: isCurrent ? summary.coveredCents : 0,
    remainderCents: isCurrent ? summary.remainderCents : totalCents,
  };
}

export function useGiftCards(): Shown & {
  isCovered: boolean;
  failure: string | undefined;
} {
  const now = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
    () => initial,
  );
  const shown = shownAmounts(now);
  const isCovered = shown.coveredCents > 0 && shown.remainderCents === 0;
  return { ...shown, isCovered, failure: now.failure };
}

/** Returns the text for a refusal. */
export function textOf({ code, message }: Refusal): string {
  if (/^(amounts|amount|balance)_changed$/.test(code))
    return "The amounts have changed. Check them, and place your order again.";
  const texts: Record<string, string> = en.errors;
  return message ?? texts[code] ?? en.errors.internal;
}
