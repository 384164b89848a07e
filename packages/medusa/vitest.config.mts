import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "medusa",
    include: ["test/**/*.test.ts"],
    globalSetup: ["../../test/support/postgres-setup.ts"],
    // Each file boots a Medusa; one at a time leaves the machine some air.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
});
