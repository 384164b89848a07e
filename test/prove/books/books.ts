/** The records of all sides about a purchase, in cents. Each shop has an adapter that reads them. */
export interface Books {
  /** The charges in the journal. */
  readonly charges: readonly { readonly state: string; readonly reason?: string | null }[];
  /** The states of the checkout's purchases. Medusa has none. */
  readonly purchases?: readonly string[];
  /** The cents that the card issuer and the other methods hold, by method. */
  readonly held?: Readonly<Record<string, number>>;
  /** The cents that the shop's order shows, by method. */
  readonly booked?: Readonly<Record<string, number>>;
}

const openCharges = ["intent", "sent", "devalued", "unknown", "reversing"];
const openPurchases = ["charging", "pending", "voiding", "canceling", "refunding"];

/** Whether recovery still has work on a charge, or a person. */
export const isOpen = (state: string) => openCharges.includes(state) || state === "needs_attention";

/**
 * Compares the sides.
 * @param mayAsk whether a person may have to decide about a charge
 * @returns every difference, and everything that is still open
 */
export function compare({ charges, purchases = [], held = {}, booked = {} }: Books, { mayAsk = false } = {}): string[] {
  const methods = [...new Set([...Object.keys(held), ...Object.keys(booked)])];
  return [
    ...charges
      .filter(({ state }) => isOpen(state) && !(mayAsk && state === "needs_attention"))
      .map(({ state, reason }) => `a charge is ${state} (${reason ?? "no reason"})`),
    ...purchases.filter((state) => openPurchases.includes(state)).map((state) => `a purchase is ${state}`),
    ...methods
      .filter((method) => (held[method] ?? 0) !== (booked[method] ?? 0))
      .map((method) => `${method}: ${held[method] ?? 0} are held, and ${booked[method] ?? 0} are in the order`),
  ];
}
