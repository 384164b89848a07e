import type { TestProject } from "vitest/node";
import { build } from "../../scripts/build.mjs";
import { type SuiteName, suites } from "../../scripts/test/suites.mjs";

/** The build of this run. Each suite loads a copy of this module, so the promise is global. */
const run = globalThis as { giftcardBuild?: Promise<void> };

/**
 * vitest's `globalSetup`: builds what has changed, because the tests start programs from the built packages. Without it,
 * `npx vitest` would test an old build without a word.
 */
export default async function setup({ vitest }: TestProject): Promise<void> {
  const needs = vitest.projects.flatMap(({ name }) => suites[name as SuiteName]?.needs ?? []);
  const progress = (text: string) => text.endsWith("up to date") || console.log(text);
  run.giftcardBuild ??= build([...new Set(needs)], { progress });
  await run.giftcardBuild;
}
