import type { Journal } from "./journal.js";

/** The part of the journal that operators and upkeep use. */
export type OperatorQueries = Pick<
  Journal,
  | "list"
  | "readPage"
  | "chargesOfCard"
  | "countByState"
  | "act"
  | "actions"
  | "takeGuess"
  | "returnGuess"
  | "keepSecret"
  | "sealCounts"
  | "sealedUnderOther"
  | "replaceSealed"
>;

/** The column that a sealed value's row is called by. */
export const sealIdOf = {
  giftcard_tender: "id",
  giftcard_charge: "reference",
  giftcard_secret: "name",
} as const;
