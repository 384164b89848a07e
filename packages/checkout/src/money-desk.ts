import type { GiftcardClient } from "@giftcard-pay/client";
import type { Attempt, Journal, Move } from "./journal.js";
import type { Sealer } from "./seal.js";

/** What the parts of the flow that move money share. */
export interface MoneyDesk {
  readonly client: GiftcardClient;
  readonly journal: Journal;
  readonly sealer: Sealer;
  readonly environment: "live" | "sandbox";
  readonly companyId: number;
  readonly leaseMs: number;
  readonly onChange: (attempt: Attempt) => void;
}

/**
 * Whom an applied card is sealed for: its cart, and the one service that it was quoted by. A shop that is switched to
 * another service can't send it there; the shopper enters the card again.
 */
export const tenderAudience = (
  { client, environment }: Pick<MoneyDesk, "client" | "environment">,
  cartId: string,
): string => `${environment} ${client.baseUrl} ${cartId}`;

/** Changes the state by compare-and-set, and tells about a change that happened. */
export function moveAndTell({ journal, onChange }: MoneyDesk) {
  return async (reference: string, change: Move): Promise<Attempt | null> => {
    const attempt = await journal.move(reference, change);
    if (attempt) onChange(attempt);
    return attempt;
  };
}
