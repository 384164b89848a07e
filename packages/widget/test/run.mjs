/** Builds, checks the tests' types, then runs the browser's tests and Node's, one after the other. */
import { spawnSync } from "node:child_process";
import path from "node:path";

const here = path.join(import.meta.dirname, "..");
for (const command of ["node build.mjs", "tsc --project test", "wtr", "vitest run --root ."]) {
  const { status } = spawnSync(command, { cwd: here, stdio: "inherit", shell: true });
  if (status !== 0) process.exit(status ?? 1);
}
