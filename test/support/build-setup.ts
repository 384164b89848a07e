import type { TestProject } from "vitest/node";
import { build } from "../../scripts/build.mjs";
import { type SuiteName, suites } from "../../scripts/test/suites.mjs";

/** The build of this run. Each suite loads a copy of this module, so the promise is global. */
const run = globalThis as { giftcardBuild?: Promise<void> };

/**
 * Builds changed packages, as vitest's `globalSetup`. The tests start programs from the built packages, so without this
 * step `npx vitest` would silently test a stale build.
 */
export default async function setup({ vitest }: TestProject): Promise<void> {
  const needs = vitest.projects.flatMap(({ name }) => suites[name as SuiteName]?.needs ?? []);
  const progress = (text: string) => text.endsWith("up to date") || console.log(text);
  run.giftcardBuild ??= build([...new Set(needs)], { progress });
  await run.giftcardBuild;
}
