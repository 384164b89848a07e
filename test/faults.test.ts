import { beforeAll, expect, inject, test } from "vitest";
import { allCells, type Cell, type CellResult, runMatrix, shortCells } from "./faults/matrix.js";

const cells = shortCells();
let results: CellResult[];

beforeAll(async () => {
  results = await runMatrix(cells, { postgresUrl: inject("postgresUrl"), workers: 1 });
}, 1_200_000);

test("these cells include every fault, step and place of each shop, except for two Medusas and shops that charge by line", () => {
  const whole = (some: readonly Cell[]) =>
    some.filter(({ shop, place }) => !shop.includes("by line") && place !== "two Medusas");
  const shopOf = ({ shop }: Cell) => shop.split(" ")[0];
  for (const what of [({ fault }: Cell) => fault, ({ step }: Cell) => step, ({ place }: Cell) => place]) {
    const of = (some: readonly Cell[]) =>
      [...new Set(whole(some).map((cell) => `${shopOf(cell)}: ${what(cell)}`))].sort();
    expect(of(cells)).toEqual(of(allCells()));
  }
});

test.each(cells)("$name", (cell) => {
  const result = results.find((each) => each.cell.name === cell.name);
  expect(result?.verdict).toMatchObject({ wrong: [] });
  expect(cell.ends).toContain(result?.verdict.outcome);
});
