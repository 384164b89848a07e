import "../../scripts/environment.mjs";
import path from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";

/** @param file in this folder */
export const support = (file: string) => path.resolve(import.meta.dirname, file);

/** A suite that boots Medusas or browsers takes longer than one that doesn't, on any machine. */
const SLOWER = 2;

/**
 * What every suite of this repository runs with. Its times are for a machine that is slow and busy: a test waits for
 * conditions, and a limit only ends what hangs.
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
      maxWorkers: 3,
      testTimeout: factor * 120_000,
      hookTimeout: factor * 240_000,
      expect: { poll: { timeout: 60_000, interval: 100 } },
      ...test,
    },
  });
}
