import type { Journal } from "./journal.js";

/** The part of the journal for operators and key rotation. */
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

/** The key column of a sealed value's row. */
export const sealIdOf = {
  giftcard_tender: "id",
  giftcard_charge: "reference",
  giftcard_secret: "name",
} as const;
