import type { Sealer } from "../sealing/seal.js";
import type { Charge, Move } from "../store/charge.js";
import type { Journal } from "../store/journal.js";
import type { CardIssuer } from "./card-issuer.js";
import type { LateWrites } from "./late-writes.js";

/** The dependencies that all parts of the engine share. */
export interface EngineContext {
  readonly issuer: CardIssuer;
  readonly journal: Journal;
  readonly sealer: Sealer;
  readonly environment: "live" | "sandbox";
  readonly companyId: number;
  readonly leaseMs: number;
  /** Cards per order. */
  readonly maxCards: number;
  /** Announces a change to observers, which can't affect it. */
  readonly onChange: (charge: Charge) => void;
  /** Reports failures that no caller waits for. */
  readonly report: (failure: unknown) => void;
  /** Changes that this process could not write yet. */
  readonly lateWrites: LateWrites;
}

/**
 * Returns the audience of an applied card's seal: its cart, and the service that quoted it. If the shop is switched to
 * another service, the seal doesn't open, and the shopper enters the card again.
 */
export const tenderAudience = (
  { issuer, environment }: Pick<EngineContext, "issuer" | "environment">,
  cartId: string,
): string => `${environment} ${issuer.baseUrl} ${cartId}`;

/** Changes the state of one or more charges by compare-and-set, and announces each change that was made. */
export function moveAndAnnounce({ journal, onChange }: Pick<EngineContext, "journal" | "onChange">) {
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

export const referencesOf = (charges: readonly Charge[]): string[] => charges.map(({ reference }) => reference);
