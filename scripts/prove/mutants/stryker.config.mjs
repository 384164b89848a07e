/** The checkout library's files that decide about money. Excludes types, and code that only reads or reports. */
const decide = [
  "purchase/paying/pay", // pays an order
  "purchase/paying/pending", // decides about payments that have begun
  "purchase/steps", // decides a purchase, once
  "purchase/reversals", // returns money
  "purchase/refunding/cancel", // cancels orders
  "purchase/recovery", // recovers
  "purchase/remainder", // believes the shop's own method
  "engine/charges", // sends a devalue, once
  "engine/charge-recovery", // reverses, and settles what isn't known
  "engine/late-writes", // keeps what the store couldn't take
  "engine/tenders", // what a card pays
  "engine/create-engine", // holds a plan against the total
  "engine/charge-layout", // which charge pays which unit
  "engine/refund-plan", // which charges go back
  "store/sql/move", // a change of state and what follows from it
  "store/sql/purchases", // compare-and-set of purchases
  "store/sql/journal", // leases, and one card once
  "store/sqlite/database", // nobody else writes meanwhile
];

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
export default {
  mutate: decide.map((name) => `packages/checkout/src/${name}.ts`),
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "scripts/prove/mutants/vitest.config.mjs", related: false },
  coverageAnalysis: "perTest",
  // The tests mostly wait.
  concurrency: 3,
  // A mutant that waits for a lease hasn't timed out: the unmutated suite also waits for some seconds.
  timeoutMS: 60_000,
  timeoutFactor: 3,
  dryRunTimeoutMinutes: 30,
  incremental: true,
  incrementalFile: ".cache/mutants/incremental.json",
  tempDirName: ".cache/mutants/copies",
  cleanTempDir: "always",
  reporters: ["clear-text", "progress-append-only", "json", "html"],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  jsonReporter: { fileName: ".cache/mutants/report.json" },
  htmlReporter: { fileName: ".cache/mutants/report.html" },
  allowEmpty: false,
  thresholds: { high: 95, low: 85, break: 85 },
  ignorePatterns: [
    ".cache",
    "docs",
    "examples",
    "giftcard-data",
    "packages/medusa",
    "packages/medusa-events",
    "packages/widget",
    "packages/service/src",
    "packages/service/test",
    "packages/client/test",
    "packages/checkout/dist",
    "scripts/bench/loyalty",
    "test/e2e",
    "test/prove/faults",
    "test/packed/project",
    "test/packed/medusa",
    // It names every package, including those excluded above.
    "/tsconfig.json",
  ],
};
