// How fast the service is, as ratios within one run: against its database, when the data grows, with more processes,
// over time; and what the widget costs a page. Every number but the ratios depends on the machine. `--json` prints one
// JSON value, `--full` takes the large figures, `--only devalue,growth,workers,memory,widget` measures some of it.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { alternate, median, openConnection, quantile, ratioOf, runClosed, runOpen } from "./bench-load.mjs";
import { build } from "./build.mjs";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    only: { type: "string", default: "devalue,growth,workers,memory,widget" },
  },
});
const parts = options.only.split(",");
/** @param {string} text */
const say = (text) => options.json || console.log(text);

await build(["service", "widget"], { progress: say });
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
const opened = [];
try {
  const small = await makeDatabase({ ...common, name: "small", ...SMALL });
  opened.push(small);
  if (parts.includes("devalue")) await measureDevalues(small);
  if (parts.includes("workers")) await measureWorkers(small);
  if (parts.includes("memory")) await measureMemory(small);
  if (parts.includes("growth")) {
    say("filling the large database");
    const large = await makeDatabase({ ...common, name: "large", ...LARGE });
    opened.push(large);
    await measureGrowth(small, large);
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
