import { defineConfig } from "vitest/config";
import { suites } from "./scripts/test/suites.mjs";

/** Every suite in one run: they share a PostgreSQL, and one waits while another works. */
export default defineConfig({
  test: {
    projects: Object.values(suites).map(({ folder }) => folder),
    // A test file boots processes of its own, and waits for them much of the time: three at once keep two cores busy.
    maxWorkers: 3,
    slowTestThreshold: 10_000,
  },
});
