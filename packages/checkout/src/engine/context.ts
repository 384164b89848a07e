import type { GiftcardClient } from "@giftcard-pay/client";
import type { Sealer } from "../sealing/seal.js";
import type { Charge, Move } from "../store/charge.js";
import type { Journal } from "../store/journal.js";
import type { LateWrites } from "./late-writes.js";

/** What the parts of the flow that move money share. */
export interface FlowContext {
  readonly client: GiftcardClient;
  readonly journal: Journal;
  readonly sealer: Sealer;
  readonly environment: "live" | "sandbox";
  readonly companyId: number;
  readonly leaseMs: number;
  /** Cards per order. */
  readonly maxCards: number;
  /** Tells of a change; whoever hears it has no say in it. */
  readonly onChange: (charge: Charge) => void;
  /** Hears of failures that nobody waits for. */
  readonly report: (failure: unknown) => void;
  /** Changes that this process couldn't write yet. */
  readonly lateWrites: LateWrites;
}

/**
 * Whom an applied card is sealed for: its cart, and the one service that it was quoted by. A shop that is switched to
 * another service can't send it there; the shopper enters the card again.
 */
export const tenderAudience = (
  { client, environment }: Pick<FlowContext, "client" | "environment">,
  cartId: string,
): string => `${environment} ${client.baseUrl} ${cartId}`;

/** Changes the state of a charge, or of several together, by compare-and-set, and tells about a change that happened. */
export function moveAndTell({ journal, onChange }: Pick<FlowContext, "journal" | "onChange">) {
  return {
    async move(reference: string, change: Move): Promise<Charge | null> {
      const charge = await journal.move(reference, change);
      if (charge) onChange(charge);
      return charge;
    },
    async moveAll(references: readonly string[], change: Move): Promise<Charge[] | null> {
      const charges = await journal.moveAll(references, change);
      for (const charge of charges ?? []) onChange(charge);
      return charges;
    },
  };
}

export const referencesOf = (charges: readonly Charge[]): string[] =>
  charges.map(({ reference }) => reference);
