import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { exitCodes } from "../src/operator-error.js";

const read = (file: string) => readFileSync(path.join(import.meta.dirname, "..", file), "utf8");
const operation = read("../../docs/service-operation.md");
const commands = read("../../docs/service-commands.md");

/** Returns the first column of a table. */
function firstColumn(page: string, head: string): string[] {
  const [, after = ""] = page.split(`${head}\n|---|---|\n`);
  const [table = ""] = after.split("\n\n");
  return table
    .trimEnd()
    .split("\n")
    .map((line) => (line.split("|")[1] ?? "").trim());
}

it("docs/service-commands.md lists each exit code, in the order of --help", () => {
  expect(firstColumn(commands, "| Exit code | |").map(Number)).toEqual(Object.values(exitCodes));
});

it("docs/service-operation.md lists each status of /readyz", () => {
  const reasons = read("src/database/readiness.ts").match(/(?<=")(database|pooler) [a-z ]+(?=")/g);
  const cells = firstColumn(operation, "| `status` of `/readyz` | |");
  const documented = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text));
  expect(documented).toEqual(expect.arrayContaining(["ready", "ending", ...new Set(reasons)]));
  expect(reasons).toHaveLength(7);
});
