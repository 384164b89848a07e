/** Makes purchases with every fault at every step, and proves the books of both sides to the cent after each. */
import { build } from "../build.mjs";
import { isBad, tableOf, writers } from "../check/faults-table.mjs";
import { writeTable } from "../check/written-tables.mjs";
import { command, loadTypeScript } from "../lib/command.mjs";

const HELP = `Makes purchases with every fault at every step, and proves the books after each. Takes at most 20 minutes.

  npm run prove -- faults                 all cells; writes the table in docs/how-it-is-tested.md
  npm run prove -- faults --short         each fault and each step once, as npm test does
  npm run prove -- faults --cell <name>   one cell, or all whose names begin with this
  npm run prove -- faults --list          the cells' names
  npm run prove -- faults --vendure       the same for examples/vendure (ten minutes; installs Vendure the first time);
                                          also takes --cell and --list

  --workers <n>   number of concurrent Medusa shops, besides one plain shop for each store (default 3)
  --json          prints the results as JSON, and progress on standard error

Exits with 1 if a cell is bad.
`;

/**
 * The result of a cell, in any of the shops.
 * @typedef {object} CellResult
 * @property {{ name: string, shop: string, place: string }} cell
 * @property {import("../../test/prove/faults/verdict.js").Verdict} verdict
 * @property {number} seconds
 */

/** @param {CellResult} result */
const lineOf = ({ cell, verdict, seconds }) =>
  `${verdict.wrong.length > 0 ? "BAD " : "ok  "}${cell.name}: ${verdict.outcome} (${seconds.toFixed(1)} s)` +
  verdict.wrong.map((what) => `\n      ${what}`).join("");

/** @param {CellResult[]} results */
const lastLine = (results) => `books exact: ${results.length} cells, ${results.filter(isBad).length} bad`;

const options = /** @type {const} */ ({
  list: { type: "boolean" },
  short: { type: "boolean" },
  vendure: { type: "boolean" },
  json: { type: "boolean" },
  cell: { type: "string", multiple: true },
  workers: { type: "string", default: "3" },
});

/** @typedef {{ signal: AbortSignal, onResult: (result: CellResult, done: number) => void, workers: number }} Running */

/** The shops of the matrix. @param {boolean} isShort */
async function matrix(isShort) {
  /** @type {typeof import("../../test/prove/faults/matrix.js")} */
  const { allCells, shortCells, runMatrix } = await loadTypeScript("test/prove/faults/matrix.ts");
  return {
    cells: isShort ? shortCells() : allCells(),
    run: (/** @type {any} */ cells, /** @type {Running} */ running) => runMatrix(cells, running),
  };
}

/** The cells of the Vendure shop, which has its own packages. */
async function vendure() {
  /** @type {typeof import("../../test/prove/faults/vendure/run.js")} */
  const { vendureCells, runVendure } = await loadTypeScript("test/prove/faults/vendure/run.ts");
  return {
    cells: vendureCells(),
    run: (/** @type {any} */ cells, /** @type {Running} */ running) => runVendure(cells, running),
  };
}

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const building = { progress: values.list ? () => {} : say, signal };
  await build(["service", "checkout"], building);
  const { cells: all, run } = values.vendure ? await vendure() : await matrix(values.short === true);
  const cells = values.cell ? all.filter(({ name }) => values.cell?.some((start) => name.startsWith(start))) : [...all];
  if (cells.length === 0) throw new Error("No cell matches. --list shows the names.");
  if (values.list) return void process.stdout.write(`${cells.map(({ name }) => name).join("\n")}\n`);
  if (cells.some(({ shop }) => shop.startsWith("medusa"))) await build(["store"], building);
  if (values.vendure) {
    const { installVendure } = await import("../lib/install-vendure.mjs");
    await installVendure({ say, signal });
  }
  const results = await run(cells, {
    workers: Number(values.workers),
    signal,
    onResult: (result, done) => say(`${String(done).padStart(3)}/${cells.length} ${lineOf(result)}`),
  });
  if (signal.aborted) return;
  if (!values.cell && !values.short) await writeTable(writers[values.vendure ? 1 : 0], tableOf(results));
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else say(`\n${tableOf(results)}\n`);
  say(lastLine(results));
  return results.some(isBad) || results.length !== cells.length ? 1 : 0;
});
