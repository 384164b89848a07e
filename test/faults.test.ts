import { beforeAll, expect, inject, test } from "vitest";
import { type CellResult, runMatrix, shortCells } from "./faults/matrix.js";

const cells = shortCells();
let results: CellResult[];

beforeAll(async () => {
  results = await runMatrix(cells, { postgresUrl: inject("postgresUrl") });
}, 300_000);

test.each(cells)("$name", (cell) => {
  const result = results.find((each) => each.cell.name === cell.name);
  expect(result?.verdict).toMatchObject({ wrong: [] });
  expect(cell.ends).toContain(result?.verdict.outcome);
});
