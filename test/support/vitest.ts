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
 *
 * @param options `sharesService`: its files use one service, by `attachService()`
 */
export function suite({
  isSlow = false,
  sharesService = false,
  root,
  ...test
}: NonNullable<ViteUserConfig["test"]> & { isSlow?: boolean; sharesService?: boolean; root?: string }) {
  const factor = isSlow ? SLOWER : 1;
  return defineConfig({
    ...(root && { root }),
    test: {
      globalSetup: ["build-setup.ts", "postgres-setup.ts", ...(sharesService ? ["shared-service.ts"] : [])].map(
        support,
      ),
      setupFiles: process.env.GIFTCARD_TEST_TIMES ? [support("times.ts")] : [],
      // One file after another: they share processes, and a second worker would cost half as much again in processor time.
      maxWorkers: 1,
      // A worker keeps its modules, and the shops and services that files share.
      isolate: false,
      testTimeout: factor * 120_000,
      hookTimeout: factor * 240_000,
      expect: { poll: { timeout: 60_000, interval: 100 } },
      tags: [{ name: "long", description: "a longer proof of a promise that other tests prove too" }],
      ...test,
    },
  });
}
