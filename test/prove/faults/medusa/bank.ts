import fs from "node:fs";
import { inCents } from "../../../../scripts/shops/whole-cents.mjs";

/** The bank's action on one session of a cart. `pay`: the page paid there itself, and the shop doesn't know it yet. */
export interface Line {
  readonly deed: "initiate" | "ask" | "authorize" | "pay" | "capture" | "cancel" | "refund" | "delete";
  readonly session: string;
  readonly cart: string | undefined;
  readonly amount: number;
}

/** The amount that the bank holds or has taken of one session. */
export interface Held {
  readonly session: string;
  readonly cart: string | undefined;
  readonly cents: number;
}

/** The test bank's own book, which outlives the shop. */
export interface Bank {
  readonly file: string;
  deeds(cartId: string): Line[];
  /** Each session of which it holds money, and how much. */
  held(): Held[];
  /** The cents that the bank holds or has taken for a cart, one entry per session. */
  heldCents(cartId: string): number[];
  /** A page pays a session at the bank itself. */
  pay(session: string, cart: string, amount: number): void;
  /** The cents that were paid on the bank's page for a cart, and not refunded. */
  paidPastShopCents(cartId: string): number;
}

/** Opens the book that the shop's bank writes. */
export function openBank(bookFile: string): Bank {
  fs.writeFileSync(bookFile, "");
  const lines: Line[] = [];
  let readBytes = 0;
  /** Reads the lines written since the last call. An incomplete line is left for the next call. */
  const read = (): readonly Line[] => {
    const file = fs.openSync(bookFile, "r");
    try {
      const fresh = Buffer.alloc(fs.fstatSync(file).size - readBytes);
      fs.readSync(file, fresh, 0, fresh.length, readBytes);
      const end = fresh.lastIndexOf("\n") + 1;
      readBytes += end;
      const text = fresh.toString("utf8", 0, end);
      lines.push(...text.split("\n").flatMap((line) => (line ? [JSON.parse(line) as Line] : [])));
    } finally {
      fs.closeSync(file);
    }
    return lines;
  };
  const held = () => [...heldOf(read()).values()];
  return {
    file: bookFile,
    deeds: (cartId) => read().filter(({ cart }) => cart === cartId),
    held,
    heldCents: (cartId) =>
      held()
        .filter(({ cart }) => cart === cartId)
        .map(({ cents }) => cents),
    pay(session, cart, amount) {
      fs.appendFileSync(bookFile, `${JSON.stringify({ deed: "pay", session, cart, amount } satisfies Line)}\n`);
    },
    paidPastShopCents(cartId) {
      const paid = read().filter(({ deed, cart }) => deed === "pay" && cart === cartId);
      if (paid.length === 0) return 0;
      const sessions = new Set(paid.map(({ session }) => session));
      return held().reduce((sum, { session, cents }) => sum + (sessions.has(session) ? cents : 0), 0);
    },
  };
}

function heldOf(lines: readonly Line[]): Map<string, Held> {
  const held = new Map<string, Held>();
  for (const { deed, session, cart, amount } of lines) {
    const cents = inCents(amount);
    const left = (held.get(session)?.cents ?? 0) - cents;
    if (deed === "authorize" || deed === "capture" || deed === "pay") held.set(session, { session, cart, cents });
    if (deed === "cancel" || deed === "delete" || (deed === "refund" && left <= 0)) held.delete(session);
    else if (deed === "refund") held.set(session, { session, cart, cents: left });
  }
  return held;
}
