import { defineConfig } from "vitest/config";

/** Every suite in one run: they share a PostgreSQL, and one waits while another works. */
export default defineConfig({
  test: {
    projects: ["packages/{client,events,service,checkout,widget,medusa,medusa-events}", "test"],
    // A test file boots processes of its own, and waits for them much of the time: three at once keep two cores busy.
    maxWorkers: 3,
    slowTestThreshold: 10_000,
  },
});
