import type { Storefront } from "../../packages/medusa/test/support/storefront.js";

/** How an order is paid. */
export const tenderKinds = ["card", "card + remainder", "two cards + remainder"] as const;
export type TenderKind = (typeof tenderKinds)[number];

/** What a purchase with these tenders costs, and what each card pays of it, in cents. */
export interface Tenders {
  readonly product: string;
  readonly totalCents: number;
  /** For each card: what it holds before, and what the order takes from it. */
  readonly cards: readonly { readonly issuedCents: number; readonly partCents: number }[];
  readonly remainderCents: number;
}

export const tenders: Record<TenderKind, Tenders> = {
  card: {
    ...{ product: "faults-evening", totalCents: 3749, remainderCents: 0 },
    cards: [{ issuedCents: 4000, partCents: 3749 }],
  },
  "card + remainder": {
    ...{ product: "faults-night", totalCents: 7498, remainderCents: 2498 },
    cards: [{ issuedCents: 7500, partCents: 5000 }],
  },
  "two cards + remainder": {
    ...{ product: "faults-weekend", totalCents: 9947, remainderCents: 2498 },
    cards: [
      { issuedCents: 7500, partCents: 5000 },
      { issuedCents: 2449, partCents: 2449 },
    ],
  },
};

/** Puts what the purchases buy on sale. */
export async function createProducts(storefront: Storefront): Promise<void> {
  for (const { product, totalCents } of Object.values(tenders)) {
    await storefront.createProduct(product, totalCents / 100);
  }
}
