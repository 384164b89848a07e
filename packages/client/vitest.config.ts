import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "client",
    include: ["test/**/*.test.ts"],
    globalSetup: ["../../test/support/postgres-setup.ts"],
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
