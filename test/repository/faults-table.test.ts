import { expect, it } from "vitest";
import { faultsOfTable, tableOf, writers } from "../../scripts/check/faults-table.mjs";
import { putRun, putTable, violationsIn } from "../../scripts/check/written-tables.mjs";

const [writer, other] = writers;
const cells = [
  { shop: "medusa", place: "service" },
  { shop: "medusa", place: "service" },
  { shop: "plain sqlite", place: "bank" },
  { shop: "plain postgresql", place: "bank" },
];
const document = `# Faults\n<!-- written by ${writer} -->\nold\n<!-- end -->\n<!-- written by ${other} -->\nold\n<!-- end -->\n`;
const ended = (wrong: readonly string[] = []) =>
  cells.map((cell, index) => ({
    cell,
    verdict: { outcome: "paid" as const, wrong: index === 1 ? wrong : [] },
  }));

it("accepts a table of all cells without a bad one", () => {
  const written = putTable(document, writer, tableOf(ended()));
  expect(written).toContain("| plain | bank | 2 | 2 | 0 | 0 | 0 | 0 | 0 |\n| all |  | 4 | 4 |");
  expect(faultsOfTable(written, writer, cells)).toEqual([]);
  expect(written).toContain(`${other} -->\nold\n`);
});

it("rejects a table with a bad cell", () => {
  const written = putTable(document, writer, tableOf(ended(["a card is charged twice"])));
  expect(faultsOfTable(written, writer, cells)).toEqual(["medusa | service: bad cells: 1.", "all: bad cells: 1."]);
});

it("rejects a table with too few cells, too many cells, or a missing row", () => {
  const written = putTable(document, writer, tableOf(ended()));
  expect(faultsOfTable(written, writer, [...cells, { shop: "medusa", place: "bank" }])).toEqual([
    "medusa | bank: the table has 0 cells, and there are 1.",
    "all: the table has 4 cells, and there are 5.",
  ]);
  expect(faultsOfTable(written, writer, cells.slice(0, 2))).toEqual([
    "all: the table has 4 cells, and there are 2.",
    "plain | bank: the table has 2 cells, and there are 0.",
  ]);
  expect(faultsOfTable(document, writer, cells.slice(0, 1))).toHaveLength(2);
});

it("rejects a row that doesn't add up", () => {
  const written = putTable(document, writer, tableOf(ended())).replace("| 2 | 2 | 0 |", "| 2 | 1 | 0 |");
  expect(faultsOfTable(written, writer, cells)).toEqual(["medusa | service: the row doesn't add up to its 2 cells."]);
});

it("records a command's last run, and reports its violations", () => {
  const page = "# Tests\n<!-- written by the runs -->\nold\nold\n<!-- end -->\n";
  const at = new Date("2036-04-12T10:00:00Z");
  const bad = putRun(page, { command: "npm run prove -- people", at, extent: "100 carts", violations: 2 });
  expect(violationsIn(bad)).toEqual(["| `npm run prove -- people` | 2036-04-12 | 100 carts | 2 |"]);
  const later = { at: new Date("2036-04-13T10:00:00Z"), violations: 0 };
  const both = putRun(bad, { ...later, command: "npm run prove -- carts", extent: "300 carts" });
  const good = putRun(both, { ...later, command: "npm run prove -- people", extent: "104 carts" });
  expect(good).toContain(
    "| `npm run prove -- carts` | 2036-04-13 | 300 carts | 0 |\n| `npm run prove -- people` | 2036-04-13 | 104 carts | 0 |\n<!-- end -->",
  );
  expect(good).not.toContain("2036-04-12");
  expect(violationsIn(good)).toEqual([]);
});
