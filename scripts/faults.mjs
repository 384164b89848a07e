/** Buys through every fault at every step, and proves the books of both sides to the cent after each. */
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const DOCUMENT = path.join(root, "docs", "faults.md");

const HELP = `Buys through every fault at every step, and proves the books after each. Takes at most 20 minutes.

  npm run faults                        all cells; writes docs/faults.md
  npm run faults -- --short             each fault and each step once, as npm test does
  npm run faults -- --cell <name>       one cell, or all whose names begin so
  npm run faults -- --list              the cells' names

  --workers <n>   Medusas side by side, beside one plain shop of each store (default 3)
  --json          results as JSON, progress on the other output

Ends with 1 when a cell is bad.
`;

/** @typedef {import("../test/faults/run-cell.js").CellResult} CellResult */

/** The cells are TypeScript like the tests, and loaded as those are. */
async function loadMatrix() {
  const vitest = createRequire(import.meta.url).resolve("vitest/package.json");
  const vite = createRequire(vitest).resolve("vite");
  const { runnerImport } = await import(pathToFileURL(vite).href);
  const { module } = await runnerImport(path.join(root, "test", "faults", "matrix.ts"), {
    root,
    configFile: false,
    logLevel: "error",
  });
  return /** @type {typeof import("../test/faults/matrix.js")} */ (module);
}

/** @param {CellResult} result */
const isBad = ({ verdict }) => verdict.wrong.length > 0;

/** @param {CellResult} result */
const lineOf = ({ cell, verdict, seconds }) =>
  `${verdict.wrong.length > 0 ? "BAD " : "ok  "}${cell.name}: ${verdict.outcome} (${seconds.toFixed(1)} s)` +
  verdict.wrong.map((what) => `\n      ${what}`).join("");

/** @param {CellResult[]} results */
const lastLine = (results) => `books exact: ${results.length} cells, ${results.filter(isBad).length} bad`;

/**
 * A line for each shop, place, fault and point, a column for each kind of tender.
 * @param {CellResult[]} results
 */
function tableOf(results) {
  const kinds = [...new Set(results.map(({ cell }) => cell.kind))];
  /** @type {Map<string, Map<string, CellResult>>} */
  const rows = new Map();
  for (const result of results) {
    const { shop, place, fault, step, point } = result.cell;
    const key = [shop, place, step, point === step ? "" : point, fault].join(" | ");
    if (!rows.has(key)) rows.set(key, new Map());
    rows.get(key)?.set(result.cell.kind, result);
  }
  const cellOf = (/** @type {CellResult | undefined} */ result) =>
    result ? (isBad(result) ? `BAD: ${result.verdict.wrong.join("; ")}` : result.verdict.outcome) : "";
  return [
    `| shop | place | step | point | fault | ${kinds.join(" | ")} |`,
    `|---|---|---|---|---|${kinds.map(() => "---|").join("")}`,
    ...[...rows].map(
      ([key, row]) => `| ${key} | ${kinds.map((kind) => cellOf(row.get(kind))).join(" | ")} |`,
    ),
  ].join("\n");
}

/** @param {CellResult[]} results @param {number} minutes */
const documentOf = (results, minutes) => `# The fault matrix

Written by \`npm run faults\`, which buys over HTTP through every fault below, with the real service, the real shops and
real networks between them that fail: Medusa with the plugin, and the plain shop with \`@giftcard-pay/checkout\` on SQLite
and on PostgreSQL and a bank's page for the remainder. After each purchase recovery runs, and the books of the service, the
shop's journal, its order and the other payment method's book have to agree to the cent. Each cell says how the purchase
ended:

- **paid**: the order is there, each card was charged its part once, and the other method holds the remainder once
- **whole**: no order, or a cancelled one; every card holds what it held, and the other method holds nothing
- **refunded**: the order was refunded, and every card holds what it held; in Medusa the other method holds nothing either,
  in the plain shop, which refunds the cards' part alone, the remainder
- **person**: whether the card was charged can't be known, since this service doesn't end a charge by its key (place
  "plain service"); nothing else is open, and a person is shown the card's balance

In every cell the calls are counted between shop and service: nothing ever sent a devalue twice. A purchase without a
fault took one quote and one devalue for each card, and no other call. In the plain shop what an order is paid with takes
turns, and so do the faults of the service's and the bank's networks between the two stores.

${tableOf(results)}

${lastLine(results)} (${minutes.toFixed(0)} minutes)
`;

async function main() {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      list: { type: "boolean" },
      short: { type: "boolean" },
      json: { type: "boolean" },
      cell: { type: "string", multiple: true },
      workers: { type: "string", default: "3" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const say = (/** @type {string} */ text) =>
    void (values.json ? process.stderr : process.stdout).write(`${text}\n`);
  const stopping = new AbortController();
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
    process.once(signal, () => stopping.abort());
  const building = { progress: values.list ? () => {} : say, signal: stopping.signal };
  await build(["service", "checkout"], building);
  const { allCells, shortCells, runMatrix } = await loadMatrix();
  const all = values.short ? shortCells() : allCells();
  const cells = values.cell
    ? all.filter(({ name }) => values.cell?.some((start) => name.startsWith(start)))
    : all;
  if (cells.length === 0) throw new Error("There is no such cell; --list shows their names.");
  if (values.list) return void process.stdout.write(`${cells.map(({ name }) => name).join("\n")}\n`);
  if (cells.some(({ shop }) => shop === "medusa")) await build(["store"], building);
  const startedAt = performance.now();
  const results = await runMatrix(cells, {
    workers: Number(values.workers),
    signal: stopping.signal,
    onResult: (result, done, total) => say(`${String(done).padStart(3)}/${total} ${lineOf(result)}`),
  });
  if (stopping.signal.aborted) process.exit(130);
  const minutes = (performance.now() - startedAt) / 60_000;
  if (!values.cell && !values.short) await writeFile(DOCUMENT, documentOf(results, minutes));
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else say(`\n${tableOf(results)}\n`);
  say(lastLine(results));
  process.exitCode = results.some(isBad) || results.length !== cells.length ? 1 : 0;
}

await main().catch((error) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  process.exitCode = 1;
});
