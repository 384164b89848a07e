import { defineConfig } from "vitest/config";
import { suites } from "./scripts/test/suites.mjs";

/** Every suite in one run: they share a PostgreSQL and a service. */
export default defineConfig({
  test: {
    projects: Object.values(suites).map(({ folder }) => folder),
    // As in each suite.
    maxWorkers: 1,
    slowTestThreshold: 10_000,
  },
});
