import path from "node:path";
import { defineConfig } from "vitest/config";

/** The tests of the money flow, on the SQLite store and one shared service. Stryker runs them in a copy of the repository. */
const names = [
  "charge-layout",
  "charges",
  "checkout",
  "decisions",
  "failing-store",
  "forgetting",
  "guess-limits",
  "journals",
  "late-writes",
  "options",
  "overtaken",
  "pay",
  "plan",
  "purchases",
  "purchases-overtaken",
  "recovery",
  "refund-plan",
  "reversal",
  "tenders",
];

export default defineConfig({
  test: {
    include: names.map((name) => `packages/checkout/test/${name}.test.ts`),
    globalSetup: ["postgres-setup.ts", "shared-service.ts"].map((file) => path.resolve("test/support", file)),
    provide: { onlyStore: "SQLite" },
    tags: [{ name: "long" }],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
