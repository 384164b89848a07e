import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "events",
    include: ["test/**/*.test.ts"],
    globalSetup: ["../../test/support/postgres-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
