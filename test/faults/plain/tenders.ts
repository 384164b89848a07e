import type { TenderKind } from "../cells.js";
import type { Tenders } from "../shop.js";

/** What a purchase with these tenders costs, and what each card pays of it: the products are the shop's own. */
const tenders: Partial<Record<TenderKind, Tenders>> = {
  card: {
    ...{ product: "cinema", totalCents: 2000, remainderCents: 0 },
    cards: [{ issuedCents: 2499, partCents: 2000 }],
  },
  "card + remainder": {
    ...{ product: "festival-pair", totalCents: 7498, remainderCents: 2498 },
    cards: [{ issuedCents: 7500, partCents: 5000 }],
  },
  "two cards + remainder": {
    ...{ product: "weekend", totalCents: 12000, remainderCents: 4551 },
    cards: [
      { issuedCents: 7500, partCents: 5000 },
      { issuedCents: 2449, partCents: 2449 },
    ],
  },
};

/** @throws for a kind that this shop doesn't sell */
export function tendersOf(kind: TenderKind): Tenders {
  const found = tenders[kind];
  if (!found) throw new Error(`the plain shop sells no ${kind}`);
  return found;
}
