import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { jobKinds } from "../src/recovery/failing-jobs.js";

it("docs/on-call.md lists every kind of job", () => {
  const onCall = readFileSync(path.join(import.meta.dirname, "../../../docs/on-call.md"), "utf8");
  for (const kind of jobKinds) expect(onCall, kind).toMatch(new RegExp(`^\\| \`${kind}\` \\| `, "m"));
});
