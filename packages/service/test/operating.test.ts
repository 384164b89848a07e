import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { exitCodes } from "../src/operator-error.js";

const read = (file: string) => readFileSync(path.join(import.meta.dirname, "..", file), "utf8");
const operating = read("../../docs/operating.md");

/** Returns the texts in backticks in the first column of a table. */
function firstColumn(head: string): string[] {
  const [, after = ""] = operating.split(`${head}\n|---|---|\n`);
  const [table = ""] = after.split("\n\n");
  const cells = table.split("\n").map((line) => line.split("|")[1] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text));
}

describe("docs/operating.md", () => {
  it("lists each exit code, in the order of --help", () => {
    const [, after = ""] = operating.split("| Exit code | |\n|---|---|\n");
    const [table = ""] = after.split("\n\n");
    const documented = table.split("\n").map((line) => Number(line.split("|")[1]));
    expect(documented).toEqual(Object.values(exitCodes));
  });

  it("lists each status of /readyz", () => {
    const reasons = read("src/database/readiness.ts").match(/(?<=")(database|pooler) [a-z ]+(?=")/g);
    expect(firstColumn("| `status` of `/readyz` | |")).toEqual(
      expect.arrayContaining(["ready", "ending", ...new Set(reasons)]),
    );
    expect(reasons).toHaveLength(7);
  });
});
