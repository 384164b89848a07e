import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { suites } from "./scripts/test/suites.mjs";

/** Starts the longest file first: at the end, everything would wait for it. Vitest sorts by suite, then by size. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith("/test/prove/faults.test.ts");
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

/** Every suite in one run: they share a PostgreSQL, and one waits while another works. */
export default defineConfig({
  test: {
    projects: Object.values(suites).map(({ folder }) => folder),
    // A test file boots processes of its own, so two at once keep several cores busy. More workers share fewer shops.
    maxWorkers: 2,
    slowTestThreshold: 10_000,
    sequence: { sequencer: LongestFirst },
  },
});
