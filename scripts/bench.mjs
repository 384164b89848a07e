// How fast the service is, as ratios within one run: against its database, when the data grows, with more processes,
// over time; what a gift card costs a purchase; and what the widget costs a page. Every number but the ratios depends on
// the machine.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { alternate, median, openConnection, quantile, ratioOf, runClosed, runOpen } from "./bench-load.mjs";
import { build } from "./build.mjs";

const ALL_PARTS = ["devalue", "growth", "workers", "memory", "carts", "widget"];
const HELP = `Measures speed, as ratios within one run.

  npm run bench                        everything, in about ten minutes
  npm run bench -- --only carts        some of it: ${ALL_PARTS.join(", ")}
  npm run bench -- --full              with the large figures: a million cards and calls, 200 carts of each kind
  npm run bench -- --json              one JSON value on the output, progress beside it

docs/performance.md says what each figure is. Carts are bought in a shop that is installed when it is needed first
(scripts/bench-store, 700 MB, a minute or two).
`;
const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    only: { type: "string", default: ALL_PARTS.join(",") },
    help: { type: "boolean", short: "h", default: false },
  },
});
const parts = options.only.split(",");
const unknown = parts.filter((part) => !ALL_PARTS.includes(part));
if (options.help || unknown.length > 0) {
  process.stderr.write(unknown.map((part) => `There is no part "${part}".\n\n`).join(""));
  process[options.help ? "stdout" : "stderr"].write(HELP);
  process.exit(options.help ? 0 : 2);
}
// So that what was started is told to end too.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.once(signal, () => process.exit(130));
/** @param {string} text */
const say = (text) => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);

const needed = [
  "service",
  ...(parts.includes("carts") ? ["store"] : []),
  ...(parts.includes("widget") ? ["widget"] : []),
];
await build(needed, { progress: say });
const { makeDatabase } = await import("./bench-database.mjs");
const { openEmbeddedPostgres } = await import("../packages/service/dist/postgres/embedded.js");

const CONNECTIONS = 32;
const turns = { rounds: 4, roundMs: 3000, say };
const SMALL = { cards: 10_000, ledgerRows: 10_000 };
const LARGE = options.full
  ? { cards: 1_000_000, ledgerRows: 5_000_000 }
  : { cards: 200_000, ledgerRows: 1_000_000 };
const FIRST_CALLS = 10_000;
const MANY_CALLS = options.full ? 1_000_000 : 100_000;
const CARTS = options.full ? 200 : 30;
const HALF_LOAD_MS = 10_000;
const HOT_CARD_MS = 5000;

/** @typedef {Awaited<ReturnType<typeof makeDatabase>>} BenchDatabase */
/** @type {Record<string, number>} */
const result = { connections: CONNECTIONS };
const round = (/** @type {number} */ value) => Number(value.toFixed(3));

/** @param {string} url @param {BenchDatabase["next"]} next */
function connect(url, next) {
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(url, next));
  return {
    calls: connections.map((connection) => connection.call),
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

/** @param {string} load @param {number[]} latenciesMs */
function noteLatency(load, latenciesMs) {
  for (const [name, part] of /** @type {const} */ ([
    ["P50", 0.5],
    ["P95", 0.95],
    ["P99", 0.99],
  ])) {
    result[`${load}Load${name}Ms`] = round(quantile(latenciesMs, part));
  }
}

/** @param {BenchDatabase} database */
async function measureDevalues(database) {
  say("devalues over HTTP, against the same statement straight by the driver");
  const service = await database.startService();
  const http = connect(service.url, database.next);
  try {
    const ways = { driver: Array.from({ length: CONNECTIONS }, () => database.straight), http: http.calls };
    const { rates, latencies } = await alternate(ways, turns);
    result.devalueRatio = round(ratioOf(rates.http, rates.driver));
    result.devaluesPerSecond = Math.round(median(rates.http));
    result.driverDevaluesPerSecond = Math.round(median(rates.driver));
    noteLatency("full", latencies.http);
    say("half of that load, evenly");
    const half = { perSecond: median(rates.http) / 2, durationMs: HALF_LOAD_MS };
    noteLatency("half", (await runOpen(http.calls, half)).latenciesMs);
    say("all at one card");
    const oneCard = connect(service.url, database.nextOfOneCard);
    const hot = await runClosed(oneCard.calls, { durationMs: HOT_CARD_MS }).finally(oneCard.close);
    result.oneCardDevaluesPerSecond = Math.round(hot.perSecond);
    result.oneCardRatio = round(hot.perSecond / median(rates.http));
  } finally {
    http.close();
    await service.stop();
  }
}

/** @param {BenchDatabase} database */
async function measureMemory(database) {
  say(`memory after ${FIRST_CALLS} calls, and after ${MANY_CALLS}`);
  const service = await database.startService();
  const http = connect(service.url, database.next);
  try {
    await runClosed(http.calls, { calls: FIRST_CALLS });
    const first = await residentBytes(service.url);
    await runClosed(http.calls, { calls: MANY_CALLS - FIRST_CALLS });
    const last = await residentBytes(service.url);
    result.memoryRatio = round(last / first);
    result.memoryMegabytes = Math.round(last / 2 ** 20);
  } finally {
    http.close();
    await service.stop();
  }
}

/** The least that it holds within two seconds, which leaves the collector time. @param {string} url */
async function residentBytes(url) {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 10; look++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const text = await (await fetch(`${url}/metrics`)).text();
    least = Math.min(least, Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]));
  }
  return least;
}

/** @param {BenchDatabase} small @param {BenchDatabase} large */
async function measureGrowth(small, large) {
  say(`${LARGE.cards} cards with ${LARGE.ledgerRows} ledger rows, against ${SMALL.cards} cards`);
  await compare(
    { small: () => small.startService(), large: () => large.startService() },
    { small, large },
    (rates) => {
      result.growthRatio = round(ratioOf(rates.large, rates.small));
    },
  );
}

/** @param {BenchDatabase} database */
async function measureWorkers(database) {
  say("two workers, against one");
  const starts = { one: () => database.startService(), two: () => database.startService("--workers", "2") };
  await compare(starts, { one: database, two: database }, (rates) => {
    result.workersRatio = round(ratioOf(rates.two, rates.one));
  });
}

/**
 * Measures several services in turns.
 * @template {string} Way
 * @param {Record<Way, () => ReturnType<BenchDatabase["startService"]>>} starts
 * @param {Record<Way, BenchDatabase>} databases
 * @param {(rates: Record<Way, number[]>) => void} note
 */
async function compare(starts, databases, note) {
  const running = [];
  const ways = /** @type {Record<Way, (() => Promise<void>)[]>} */ ({});
  try {
    for (const name of /** @type {Way[]} */ (Object.keys(starts))) {
      const service = await starts[name]();
      const connections = connect(service.url, databases[name].next);
      running.push({ service, connections });
      ways[name] = connections.calls;
      await databases[name].settle();
    }
    note((await alternate(ways, turns)).rates);
  } finally {
    for (const { service, connections } of running) {
      connections.close();
      await service.stop();
    }
  }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-bench-"));
say("a database that syncs to disk");
const server = await openEmbeddedPostgres({ dataDir: path.join(folder, "data"), role: "serve" });
const common = { serverUrl: server.url, folder, connections: CONNECTIONS };
/** @type {BenchDatabase[]} */
const opened = [];
/** @param {"small" | "large"} name @param {typeof SMALL} size */
async function fill(name, size) {
  say(`filling the ${name} database`);
  const database = await makeDatabase({ ...common, name, ...size });
  opened.push(database);
  return database;
}

try {
  if (parts.some((part) => ["devalue", "workers", "memory", "growth"].includes(part))) {
    const small = await fill("small", SMALL);
    if (parts.includes("devalue")) await measureDevalues(small);
    if (parts.includes("workers")) await measureWorkers(small);
    if (parts.includes("memory")) await measureMemory(small);
    if (parts.includes("growth")) await measureGrowth(small, await fill("large", LARGE));
  }
  if (parts.includes("carts")) {
    say("completing carts with a card, against without, and against Medusa's loyalty plugin");
    const { benchCarts } = await import("./bench-carts.mjs");
    Object.assign(result, await benchCarts({ serverUrl: server.url, carts: CARTS, say }));
  }
  if (parts.includes("widget")) {
    say("the widget in Chromium, against a bare Lit hello");
    const { widgetBench } = await import("../packages/widget/bench/widget-bench.mjs");
    Object.assign(result, await widgetBench());
  }
  if (options.json) console.log(JSON.stringify(result));
  else for (const [name, value] of Object.entries(result)) console.log(`${name.padEnd(26)}  ${value}`);
} finally {
  for (const database of opened) await database.close();
  await server.close();
  fs.rmSync(folder, { recursive: true, force: true });
}
