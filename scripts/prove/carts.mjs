/** Buys random carts in a Medusa shop with VAT and promotions, returns every unit, and proves that every cent is back. */
import { build } from "../build.mjs";
import { recordRun } from "../check/written-tables.mjs";
import { command, loadTypeScript, UsageError } from "../lib/command.mjs";

const HELP = `Buys random carts with VAT, promotions and one to five cards over HTTP, in a Medusa shop that charges by line.
Refunds their units in random order by returns, order edits and bulk refunds. Then proves that each card and the bank
hold the same amount as before.

  npm run prove -- carts              300 carts, with a seed from the clock (half an hour)
  npm run prove -- carts --carts 20   fewer carts
  npm run prove -- carts --seed 42    with this seed: the first cart uses 42, the next 43

  npm run prove -- carts --vendure    in a Vendure shop, refunded charge by charge; takes --carts, --seed and --json (15 minutes)

  --workers <n>   number of concurrent Medusa shops (default 2)
  --json          prints the results as JSON, and progress on standard error

A run of 300 carts from a new seed is recorded in docs/how-it-is-tested.md. Exits with 1 if a cent is in the wrong place, or
a unit can't be refunded.
`;

/** @param {string} text @param {string} name @param {number} least */
function read(text, name, least) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new UsageError(`--${name} must be a whole number of at least ${least}.`);
  return value;
}

/** @param {import("../../test/prove/carts/run-carts.js").CartResult} result */
function lineOf({ plan, paidCents, cards, wrong, seconds }) {
  const { seed, country, isInclusive, lines, codes, isPosted } = plan;
  const goods = lines.map(({ good, quantity, way }) => `${quantity} ${good} (${way})`).join(", ");
  const also = [...codes, ...(isPosted ? ["by post"] : []), country, isInclusive ? "VAT included" : "VAT added"];
  return (
    `${wrong.length > 0 ? "BAD " : "ok  "}seed ${seed}: ${goods}, ${also.join(", ")}: ` +
    `${(paidCents / 100).toFixed(2)} by ${cards} cards (${seconds.toFixed(1)} s)` +
    wrong.map((what) => `\n      ${what}`).join("")
  );
}

/** @param {import("../../test/prove/vendure-people/carts.js").VendureCart} result */
const vendureLineOf = ({ seed, about, wrong }) =>
  `${wrong.length > 0 ? "BAD " : "ok  "}seed ${seed}: ${about}${wrong.map((what) => `\n      ${what}`).join("")}`;

/** @returns {Promise<typeof import("../../test/prove/carts/run-carts.js")>} */
const loadMedusa = () => loadTypeScript("test/prove/carts/run-carts.ts");

/** @returns {Promise<typeof import("../../test/prove/vendure-people/carts.js")>} */
const loadVendure = () => loadTypeScript("test/prove/vendure-people/carts.ts");

const options = /** @type {const} */ ({
  carts: { type: "string", default: "300" },
  workers: { type: "string", default: "2" },
  seed: { type: "string" },
  vendure: { type: "boolean" },
  json: { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const carts = read(values.carts, "carts", 1);
  const workers = read(values.workers, "workers", 1);
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : read(values.seed, "seed", 0);
  await build(values.vendure ? ["service", "vendure"] : ["service", "checkout", "store"], { progress: say, signal });
  say(`seed ${seed}`);
  const count = (/** @type {number} */ done) => `${String(done).padStart(3)}/${carts}`;
  const results = values.vendure
    ? await (await loadVendure()).runVendureCarts({
        ...{ seed, carts, signal },
        onCart: (result, done) => say(`${count(done)} ${vendureLineOf(result)}`),
      })
    : await (await loadMedusa()).runCarts({
        ...{ seed, carts, workers, signal },
        onCart: (result, done) => say(`${count(done)} ${lineOf(result)}`),
      });
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  const bad = results.filter(({ wrong }) => wrong.length > 0).length;
  say(`books exact: ${results.length} carts, ${bad} bad`);
  if (values.seed === undefined && values.carts === options.carts.default && results.length === carts)
    await recordRun({
      command: `npm run prove -- carts${values.vendure ? " --vendure" : ""}`,
      extent: `${carts} carts`,
      violations: bad,
    });
  return bad > 0 || results.length < carts ? 1 : 0;
});
