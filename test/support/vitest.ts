import "../../scripts/lib/environment.mjs";
import path from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";

/** @param file in this folder */
export const support = (file: string) => path.resolve(import.meta.dirname, file);

/** The timeout factor of suites that boot Medusa or a browser. */
const SLOWER = 2;

/**
 * Returns a suite's configuration. The timeouts suit a slow, busy machine: tests wait for conditions, so only a hang
 * times out.
 */
export function suite({
  isSlow = false,
  root,
  ...test
}: NonNullable<ViteUserConfig["test"]> & { isSlow?: boolean; root?: string }) {
  const factor = isSlow ? SLOWER : 1;
  return defineConfig({
    ...(root && { root }),
    test: {
      globalSetup: [support("build-setup.ts"), support("postgres-setup.ts")],
      setupFiles: process.env.GIFTCARD_TEST_TIMES ? [support("times.ts")] : [],
      maxWorkers: 2,
      // A worker keeps its modules between files, which saves a tenth of the time.
      isolate: false,
      testTimeout: factor * 120_000,
      hookTimeout: factor * 240_000,
      expect: { poll: { timeout: 60_000, interval: 100 } },
      tags: [{ name: "long", description: "a longer proof of a promise that other tests prove too" }],
      ...test,
    },
  });
}
