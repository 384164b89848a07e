import fs from "node:fs";

/** What the bank did with one session of a cart. */
interface Line {
  readonly deed: "initiate" | "ask" | "authorize" | "capture" | "cancel" | "refund" | "delete";
  readonly session: string;
  readonly cart: string;
  readonly amount: number;
}

/** The test bank's own book, which outlives the shop. */
export interface Bank {
  readonly file: string;
  deeds(cartId: string): Line[];
  /** What the bank holds or has taken for a cart, each session once, in cents. */
  heldCents(cartId: string): number[];
}

/** Opens the book that the shop's bank writes. */
export function openBank(file: string): Bank {
  fs.writeFileSync(file, "");
  const deeds = (cartId: string): Line[] =>
    fs
      .readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line)
      .filter(({ cart }) => cart === cartId);
  return {
    file,
    deeds,
    heldCents(cartId) {
      const held = new Map<string, number>();
      for (const { deed, session, amount } of deeds(cartId)) {
        if (deed === "authorize" || deed === "capture") held.set(session, Math.round(amount * 100));
        if (deed === "cancel" || deed === "refund" || deed === "delete") held.delete(session);
      }
      return [...held.values()];
    },
  };
}
