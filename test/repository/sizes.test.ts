import { expect, it } from "vitest";
import { changedSizes } from "../../scripts/check/sizes.mjs";

it("reports a package whose size has changed noticeably, and a new package", () => {
  const written = { small: 20, large: 1000 };
  expect(changedSizes(written, { small: 22, large: 970 })).toEqual([]);
  expect(changedSizes(written, { small: 23, large: 969, other: 1 })).toEqual([
    "small has 23 kB, and was 20 kB.",
    "large has 969 kB, and was 1000 kB.",
    "other has 1 kB, and nothing is written down.",
  ]);
});
