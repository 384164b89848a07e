/** Measures the service's speed: against its own database, with more data, with more processes, and over time. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { alternate, callersAtOnce, median, openConnection, quantile, ratioOf, runClosed, runOpen } from "./load.mjs";

import { findPgbench, runPgbench } from "./pgbench.mjs";

/** @typedef {Awaited<ReturnType<typeof import("./database.mjs").makeDatabase>>} BenchDatabase */
const round = (/** @type {number} */ value) => Number(value.toFixed(3));

export const CONNECTIONS = 32;
const FIRST_CALLS = 10_000;
const HALF_LOAD_MS = 10_000;
const HOT_CARD_MS = 5000;
const CPU_MS = 5000;
const TELL_CALLS = 90_000;
const LISTED_EVENTS = 100_000;
const LISTINGS = 4;
const LISTED_BYTES = 1024 * 1024;

/**
 * A benchmark run: its results, and its progress output.
 * @typedef {object} Bench
 * @property {Record<string, number>} result
 * @property {(text: string) => void} say
 */

/** @param {Bench} bench */
const turnsOf = ({ say }) => ({ rounds: 4, roundMs: 3000, say });

/** @param {string} url @param {() => import("./load.mjs").Request} next */
function connect(url, next) {
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(url, next));
  return {
    calls: connections.map((connection) => connection.call),
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

/** @param {Bench["result"]} result @param {string} load @param {number[]} latenciesMs */
function noteLatency(result, load, latenciesMs) {
  for (const [name, part] of /** @type {const} */ ([
    ["P50", 0.5],
    ["P95", 0.95],
    ["P99", 0.99],
  ])) {
    result[`${load}Load${name}Ms`] = round(quantile(latenciesMs, part));
  }
}

/** @param {Bench} bench @param {BenchDatabase} database */
export async function measureDevalues(bench, database) {
  const { result, say } = bench;
  say("devalues over HTTP, compared with the same statement by the database driver, and with balances over HTTP");
  const service = await database.startService();
  const http = connect(service.url, database.next);
  const balances = connect(service.url, database.nextBalance);
  try {
    const driver = Array.from({ length: CONNECTIONS }, () => database.straight);
    const ways = {
      driver: callersAtOnce(driver),
      http: callersAtOnce(http.calls),
      balance: callersAtOnce(balances.calls),
    };
    const { rates, latencies } = await alternate(ways, turnsOf(bench));
    result.devalueRatio = round(ratioOf(rates.http, rates.driver));
    result.balanceRatio = round(ratioOf(rates.balance, rates.http));
    result.devaluesPerSecond = Math.round(median(rates.http));
    result.driverDevaluesPerSecond = Math.round(median(rates.driver));
    result.balancesPerSecond = Math.round(median(rates.balance));
    noteLatency(result, "full", latencies.http);
    result.devalueCpuMicroseconds = Math.round(await cpuOf(service.metricsUrl, http.calls));
    result.balanceCpuMicroseconds = Math.round(await cpuOf(service.metricsUrl, balances.calls));
    say("half of that load, at a constant rate");
    const half = { perSecond: median(rates.http) / 2, durationMs: HALF_LOAD_MS };
    noteLatency(result, "half", (await runOpen(http.calls, half)).latenciesMs);
    say("all devalues on one card");
    const oneCard = connect(service.url, database.nextOfOneCard);
    const hot = await runClosed(oneCard.calls, { durationMs: HOT_CARD_MS }).finally(oneCard.close);
    result.oneCardDevaluesPerSecond = Math.round(hot.perSecond);
    result.oneCardRatio = round(hot.perSecond / median(rates.http));
  } finally {
    http.close();
    balances.close();
    await service.stop();
  }
}

/**
 * Measures the slowest devalue of each round, alone and while other clients list many events.
 * @param {Bench} bench @param {BenchDatabase} database
 */
export async function measureLists({ result, say }, database) {
  const { rounds, roundMs } = { rounds: 4, roundMs: 5000 };
  say(`devalues beside ${LISTINGS} listings of ${LISTED_EVENTS} events, and alone`);
  const apiKey = await database.addEvents(LISTED_EVENTS);
  const service = await database.startService();
  const connection = openConnection(service.url, database.next);
  const worst = async () => Math.max(...(await runClosed([connection.call], { durationMs: roundMs })).latenciesMs);
  try {
    await worst();
    /** @type {number[]} */
    const alone = [];
    /** @type {number[]} */
    const beside = [];
    for (let made = 0; made < rounds; made++) {
      alone.push(await worst());
      const lister = listEvents({ url: service.url, apiKey, listings: LISTINGS });
      beside.push(await worst());
      if ((await lister.end()) < LISTED_BYTES)
        throw new Error("The listings made no progress, so the devalues ran without a concurrent load.");
      say(`  round ${made + 1}  ${round(alone[made] ?? 0)} ms alone, ${round(beside[made] ?? 0)} ms beside`);
    }
    result.listsRatio = round(ratioOf(beside, alone));
    result.listsWorstDevalueMs = round(median(beside));
  } finally {
    connection.close();
    await service.stop();
  }
}

/** Starts a thread that lists events. @param {{ url: string, apiKey: string, listings: number }} workerData */
function listEvents(workerData) {
  const thread = new Worker(new URL("lister.mjs", import.meta.url), { workerData });
  let bytes = 0;
  thread.on("message", (/** @type {number} */ more) => (bytes += more));
  const ended = once(thread, "exit");
  return {
    /** @returns {Promise<number>} the bytes received */
    async end() {
      thread.postMessage("end");
      await ended;
      return bytes;
    },
  };
}

/** Returns the CPU time that the service's process uses per call, in microseconds. @param {string} metricsUrl @param {(() => Promise<void>)[]} calls */
async function cpuOf(metricsUrl, calls) {
  const before = await metricOf(metricsUrl, "process_cpu_seconds_total");
  const { latenciesMs } = await runClosed(calls, { durationMs: CPU_MS });
  const usedSeconds = (await metricOf(metricsUrl, "process_cpu_seconds_total")) - before;
  return (usedSeconds * 1e6) / latenciesMs.length;
}

/** @param {string} metricsUrl @param {string} name */
async function metricOf(metricsUrl, name) {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
}

/** @param {Bench} bench @param {BenchDatabase} database */
export async function measureFloor(bench, database) {
  const { result, say } = bench;
  const program = findPgbench();
  if (program === undefined) return say("pgbench is not installed: skipping floorRatio.");
  say("devalues over HTTP, compared with the same function called by pgbench");
  const service = await database.startService();
  const http = connect(service.url, database.next);
  try {
    const pgbench = (/** @type {number} */ durationMs) =>
      runPgbench(program, database, { clients: CONNECTIONS, durationMs });
    const { rates } = await alternate({ http: callersAtOnce(http.calls), pgbench }, turnsOf(bench));
    result.floorRatio = round(ratioOf(rates.http, rates.pgbench));
    result.floorDevaluesPerSecond = Math.round(median(rates.pgbench));
  } finally {
    http.close();
    await service.stop();
  }
}

/** @param {Bench} bench @param {BenchDatabase} database @param {number} calls */
export async function measureMemory({ result, say }, database, calls) {
  say(`memory after ${FIRST_CALLS} calls, and after ${calls}`);
  const service = await database.startService();
  const http = connect(service.url, database.next);
  try {
    await runClosed(http.calls, { calls: FIRST_CALLS });
    const first = await residentBytes(service.metricsUrl);
    for (let made = FIRST_CALLS; made < calls; made += TELL_CALLS) {
      await runClosed(http.calls, { calls: Math.min(TELL_CALLS, calls - made) });
      say(`  ${Math.min(made + TELL_CALLS, calls)} calls`);
    }
    const last = await residentBytes(service.metricsUrl);
    result.memoryRatio = round(last / first);
    result.memoryMegabytes = Math.round(last / 2 ** 20);
  } finally {
    http.close();
    await service.stop();
  }
}

/** Returns the lowest resident memory within two seconds, which gives the garbage collector time. @param {string} metricsUrl */
async function residentBytes(metricsUrl) {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 10; look++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    least = Math.min(least, await metricOf(metricsUrl, "process_resident_memory_bytes"));
  }
  return least;
}

/** @param {Bench} bench @param {BenchDatabase} small @param {BenchDatabase} large */
export async function measureGrowth(bench, small, large) {
  await compare(
    bench,
    { small: () => small.startService(), large: () => large.startService() },
    { small, large },
    (rates) => {
      bench.result.growthRatio = round(ratioOf(rates.large, rates.small));
    },
  );
}

/**
 * Measures several services alternately.
 * @template {string} Way
 * @param {Bench} bench
 * @param {Record<Way, () => ReturnType<BenchDatabase["startService"]>>} starts
 * @param {Record<Way, BenchDatabase>} databases
 * @param {(rates: Record<Way, number[]>) => void} note
 */
async function compare(bench, starts, databases, note) {
  const running = [];
  const ways = /** @type {Record<Way, import("./load.mjs").Measured>} */ ({});
  try {
    for (const name of /** @type {Way[]} */ (Object.keys(starts))) {
      const service = await starts[name]();
      const connections = connect(service.url, databases[name].next);
      running.push({ service, connections });
      ways[name] = callersAtOnce(connections.calls);
      await databases[name].settle();
    }
    note((await alternate(ways, turnsOf(bench))).rates);
  } finally {
    for (const { service, connections } of running) {
      connections.close();
      await service.stop();
    }
  }
}
