import { expect, it } from "vitest";
import { mutantsTable } from "../../scripts/prove/mutants/table.mjs";

const mutants = (...statuses: string[]) => ({ mutants: statuses.map((status) => ({ status })) });

it("counts the mutants of all files, without those that don't compile, and rounds the score down", () => {
  const table = mutantsTable({
    files: {
      "a.ts": mutants("Killed", "Killed", "Survived", "CompileError", "Ignored"),
      "b.ts": mutants("Timeout", "Killed", "NoCoverage"),
    },
  });
  expect(table.split("\n").at(-1)).toBe("| 2 files | 6 | 3 | 1 | 1 | 1 | 66 % |");
});
