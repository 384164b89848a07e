/** How the bank responds to a request for the remainder. */
export const payMoods = [
  "authorize",
  "decline",
  "page",
  "fail",
  "authorize-then-fail",
  "fail-at-once",
  "hang",
  "authorize-then-hang",
  "garbage",
  "authorize-then-garbage",
] as const;
export type PayMood = (typeof payMoods)[number];
