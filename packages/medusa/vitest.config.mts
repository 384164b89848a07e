import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "medusa",
    include: ["test/**/*.test.ts"],
    globalSetup: ["../../test/support/postgres-setup.ts"],
    // Each file boots Medusas, and waits for them much of the time: two at once keep two cores busy.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
