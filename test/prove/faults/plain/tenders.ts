import type { TenderKind } from "../cells.js";
import type { Tenders } from "../shop.js";

/** The total of a purchase with these tenders, and each card's part. The products are the shop's own. */
export const tenders: Record<TenderKind, Tenders> = {
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
  "three units": {
    ...{ product: "cinema", totalCents: 6000, remainderCents: 1000 },
    cards: [{ issuedCents: 5500, partCents: 5000, chargesCents: [2000, 2000, 1000] }],
    units: [2000, 2000, 2000],
  },
  "ten units": {
    ...{ product: "drink", totalCents: 5000, remainderCents: 0 },
    cards: [{ issuedCents: 6000, partCents: 5000, chargesCents: Array(10).fill(500) }],
    units: Array(10).fill(500),
  },
};
