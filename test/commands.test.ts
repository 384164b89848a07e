import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "..");

it("a command that loads the tests' TypeScript loads the packages with it", async () => {
  const { stdout } = await run(process.execPath, ["scripts/faults.mjs", "--list"], { cwd: root });
  expect(stdout.trim().split("\n").length).toBeGreaterThan(900);
});
