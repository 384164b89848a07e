/** Sells a show to three times as many buyers as it has seats, in a real Medusa of several processes. */
import { build } from "../build.mjs";
import { recordRun } from "../check/written-tables.mjs";
import { command, loadTypeScript, UsageError } from "../lib/command.mjs";

const HELP = `Sells a show with managed inventory to many buyers within seconds, in two Medusa processes and a worker, and compares
what they were told with seats, orders, cards and the bank.

  npm run prove -- on-sale                               40 seats, 120 buyers, locking-postgres
  npm run prove -- on-sale --lock redis                  locking-redis; needs an installed redis-server
  npm run prove -- on-sale --lock memory --processes 1   one process, with Medusa's default lock
  npm run prove -- on-sale --seats 167 --buyers 500      a larger hall
  npm run prove -- on-sale --hostile                     kills each process meanwhile, and freezes one
  npm run prove -- on-sale --plain                       first the same shop without this plugin, and then compares

  --lock <name>      postgres (default), redis or memory
  --processes <n>    number of Medusa processes that pages call (default 2)
  --seats <n>        default 40
  --buyers <n>       default three for each seat
  --bank-ms <n>      how long the bank takes to authorize a payment (default 300)
  --json             prints the result as JSON, and progress on standard error

docs/on-sale.md explains the figures. A run without options is recorded in docs/how-it-is-tested.md. Exits with 1 if a promise
was broken.
`;

/** @typedef {import("../../test/prove/on-sale/run.js").OnSaleResult} OnSaleResult */

/** @param {string} text @param {string} name @param {number} [least] */
function read(text, name, least = 1) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new UsageError(`--${name} must be a whole number of at least ${least}.`);
  return value;
}

/** @param {Readonly<Record<string, number>>} counts */
const list = (counts) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

/** @param {OnSaleResult["waitMs"]} times */
const times = ({ p50, p95, p99 }) => `${p50}, ${p95}, ${p99} ms`;

/** @param {OnSaleResult} result @param {number} seats */
const report = (result, seats) => `
orders per second        ${result.ordersPerSecond.toFixed(2)}
buyers ended with        ${list(result.ends)}
all answers              ${list(result.answers)}
wait p50, p95, p99       ${times(result.waitMs)}
  of those with an order ${times(result.orderMs)}
longest single answer    ${Math.round(result.longestAnswerMs)} ms
product page, idle       ${times(result.pageIdleMs)}
product page, meanwhile  ${times(result.pageMs)}
seats, reserved, orders  ${seats}, ${result.reserved}, ${result.orders}
unpaid, without cards    ${result.unpaidWithoutCards}
`;

const text = /** @type {const} */ ({ type: "string" });
const options = /** @type {const} */ ({
  lock: { type: "string", default: "postgres" },
  processes: { type: "string", default: "2" },
  seats: { type: "string", default: "40" },
  buyers: text,
  "bank-ms": { type: "string", default: "300" },
  hostile: { type: "boolean", default: false },
  plain: { type: "boolean", default: false },
  json: { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const { lock } = values;
  if (lock !== "postgres" && lock !== "redis" && lock !== "memory")
    throw new UsageError("--lock must be postgres, redis or memory.");
  const seats = read(values.seats, "seats");
  const processes = read(values.processes, "processes");
  if (values.hostile && processes < 2) throw new UsageError("--hostile needs at least two processes.");
  const settings = {
    lock: /** @type {import("../../test/prove/on-sale/shop.js").Lock} */ (lock),
    ...{ seats, processes, hasWorker: processes > 1, say, isHostile: values.hostile, patienceMs: 60_000 },
    buyers: values.buyers === undefined ? 3 * seats : read(values.buyers, "buyers"),
    bankMs: read(values["bank-ms"], "bank-ms", 0),
  };
  await build(["service", "checkout", "store"], { progress: say, signal });
  /** @type {typeof import("../../test/prove/on-sale/run.js")} */
  const { runOnSale } = await loadTypeScript("test/prove/on-sale/run.ts");
  const plain = values.plain ? await runOnSale({ ...settings, isPlain: true }) : null;
  if (plain) say(`without this plugin:${report(plain, seats)}${plain.wrong.map((what) => `  ${what}\n`).join("")}`);
  const result = await runOnSale({ ...settings, isPlain: false });
  const compared = plain && {
    ordersRatio: result.ordersPerSecond / plain.ordersPerSecond,
    waitRatio: result.waitMs.p95 / plain.waitMs.p95,
  };
  if (values.json) process.stdout.write(`${JSON.stringify({ ...result, plain, ...compared }, null, 2)}\n`);
  say(report(result, seats));
  if (compared)
    say(
      `compared with the shop without this plugin: ${compared.ordersRatio.toFixed(2)} of its orders per second, ` +
        `${compared.waitRatio.toFixed(2)} of its p95`,
    );
  for (const what of result.wrong) say(`  wrong: ${what}`);
  if (process.argv.length === 2)
    await recordRun({
      command: "npm run prove -- on-sale",
      extent: `${settings.buyers} buyers`,
      violations: result.wrong.length,
    });
  say(result.wrong.length === 0 ? "all as promised" : `${result.wrong.length} broken promises`);
  return result.wrong.length === 0 ? 0 : 1;
});
