// @module-tag long
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a missing handler, or one that refuses with an unlisted code, does not compile", async () => {
  const compiler = path.join(
    path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
    "bin",
    "tsc",
  );
  const project = path.join(import.meta.dirname, "tsconfig.json");
  const compiled = promisify(execFile)(process.execPath, [compiler, "-p", project]);
  await expect(compiled).resolves.toEqual({ stdout: "", stderr: "" });
});
