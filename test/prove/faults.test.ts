import { beforeAll, describe, expect, inject, test } from "vitest";
import { allCells, type Cell, type CellResult, runMatrix, shortCells } from "./faults/matrix.js";

const isMedusa = ({ shop }: Cell) => shop.startsWith("medusa");
const isByLine = ({ shop }: Cell) => shop.includes("by line");
const whole = (cells: readonly Cell[]) => cells.filter((cell) => !isByLine(cell) && cell.place !== "two Medusas");

describe.each([
  { name: "Medusa", isOf: (cell: Cell) => isMedusa(cell) && !isByLine(cell), tags: [] },
  { name: "Medusa that charges by line", isOf: (cell: Cell) => isMedusa(cell) && isByLine(cell), tags: ["long"] },
  { name: "a shop of its own", isOf: (cell: Cell) => !isMedusa(cell), tags: ["long"] },
])("$name", ({ isOf, tags }) => {
  const cells = shortCells().filter(isOf);
  let results: CellResult[];

  beforeAll(async () => {
    results = await runMatrix(cells, { postgresUrl: inject("postgresUrl"), workers: 1 });
  }, 1_200_000);

  test.skipIf(cells.every(isByLine))(
    "these cells have every fault, step and place, except for two Medusas",
    { tags },
    () => {
      for (const what of ["fault", "step", "place"] as const) {
        const of = (some: readonly Cell[]) => new Set(whole(some).map((cell) => cell[what]));
        expect(of(cells)).toEqual(of(allCells().filter(isOf)));
      }
    },
  );

  test.each(cells)("$name", { tags }, (cell) => {
    const result = results.find((each) => each.cell.name === cell.name);
    expect(result?.verdict).toMatchObject({ wrong: [] });
    expect(cell.ends).toContain(result?.verdict.outcome);
  });
});
