/** The money core: the tests that `npm test -- quick` runs. Most take a few seconds, and none starts Medusa. */
export const quick = [
  "packages/client/test",
  ...[
    ...["charge-layout", "charged-by-line", "charges", "checkout", "decisions", "failing-store"],
    ...["late-writes", "ordinary-carts", "overtaken", "pay", "plan", "purchases", "purchases-overtaken", "recovery"],
    ...["refund-faults", "refund-plan", "refund-races", "refunds", "reversal", "tenders"],
  ].map((name) => `packages/checkout/test/${name}.test.ts`),
  ...["cards", "clear-refusals", "idempotency", "key-in-devalue", "ledger", "races", "reversals"].map(
    (name) => `packages/service/test/${name}.test.ts`,
  ),
  ...["amount", "cart-leases", "config", "migrations", "setup-options"].map(
    (name) => `packages/medusa/test/${name}.test.ts`,
  ),
];
