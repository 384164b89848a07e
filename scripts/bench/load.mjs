// Clients of the service that do as little work as possible, so that the service is what is measured.
import net from "node:net";

/** A call: its operation, its form, and its Idempotency-Key. @typedef {{ operation: string, body: string, key?: string }} Request */

/**
 * Opens a keep-alive connection.
 * @param {string} url
 * @param {() => Request} next returns the next call
 */
export function openConnection(url, next) {
  const { hostname, port, host } = new URL(url);
  let received = "";
  /** @type {{ resolve: () => void, reject: (error: Error) => void } | undefined} */
  let settle;
  /** @type {net.Socket | undefined} */
  let socket;
  const read = (/** @type {string} */ chunk) => {
    received += chunk;
    const head = received.indexOf("\r\n\r\n");
    const length = head < 0 ? Number.NaN : Number(/content-length: (\d+)/i.exec(received)?.[1]);
    if (!(received.length >= head + 4 + length)) return;
    const answer = received;
    received = "";
    if (answer.startsWith("HTTP/1.1 200")) settle?.resolve();
    else settle?.reject(new Error(`The service answered: ${answer.slice(head + 4)}`));
  };
  // The service closes idle connections, for example between two measurements.
  const connect = () => {
    const made = net.connect(Number(port), hostname).setNoDelay().setEncoding("latin1");
    made.on("data", read);
    made.on("error", (error) => settle?.reject(error));
    made.on("close", () => settle?.reject(new Error("The service closed the connection.")));
    return made;
  };
  const call = () =>
    /** @type {Promise<void>} */ (
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        if (!socket || socket.destroyed) socket = connect();
        const { operation, body, key } = next();
        socket.write(
          `POST /api/endpoint/v1/${operation} HTTP/1.1\r\nHost: ${host}\r\n` +
            `${key === undefined ? "" : `Idempotency-Key: ${key}\r\n`}` +
            "Content-Type: application/x-www-form-urlencoded\r\n" +
            `Content-Length: ${body.length}\r\n\r\n${body}`,
        );
      })
    ).finally(() => {
      settle = undefined;
    });
  return { call, close: () => socket?.destroy() };
}

/**
 * Runs all callers concurrently. Each makes one call after the other.
 * @param {(() => Promise<void>)[]} callers
 * @param {{ durationMs?: number, calls?: number }} until
 */
export async function runClosed(callers, { durationMs = Number.POSITIVE_INFINITY, calls = Number.POSITIVE_INFINITY }) {
  let begun = 0;
  /** @type {number[]} */
  const latenciesMs = [];
  const startedAt = performance.now();
  const caller = async (/** @type {() => Promise<void>} */ once) => {
    while (performance.now() - startedAt < durationMs && begun < calls) {
      begun += 1;
      const sentAt = performance.now();
      await once();
      latenciesMs.push(performance.now() - sentAt);
    }
  };
  await Promise.all(callers.map(caller));
  return { perSecond: latenciesMs.length / ((performance.now() - startedAt) / 1000), latenciesMs };
}

/**
 * Calls at a constant rate, independent of the answers. If every connection is busy, a call waits, and the wait counts.
 * @param {(() => Promise<void>)[]} callers
 * @param {{ perSecond: number, durationMs: number }} pace
 */
export async function runOpen(callers, { perSecond, durationMs }) {
  const total = Math.floor((perSecond * durationMs) / 1000);
  const startedAt = performance.now();
  /** @type {number[]} */
  const latenciesMs = [];
  let next = 0;
  const caller = async (/** @type {() => Promise<void>} */ once) => {
    while (next < total) {
      const dueAt = startedAt + (next++ * 1000) / perSecond;
      const earlyMs = dueAt - performance.now();
      if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs));
      // A timer may fire late. Only delays caused by the service count.
      const sentAt = performance.now();
      await once();
      latenciesMs.push(performance.now() - (earlyMs > 0 ? sentAt : dueAt));
    }
  };
  await Promise.all(callers.map(caller));
  return { perSecond: latenciesMs.length / ((performance.now() - startedAt) / 1000), latenciesMs };
}

/** @param {number[]} numbers @param {number} part from 0 to 1 */
export function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** @param {number[]} numbers */
export const median = (numbers) => quantile(numbers, 0.5);

/**
 * A measured workload: runs for the given time, and returns its rate and latencies.
 * @typedef {(durationMs: number) => Promise<{ perSecond: number, latenciesMs: number[] }>} Measured
 */

/** Returns a workload that runs these callers concurrently. @param {(() => Promise<void>)[]} callers @returns {Measured} */
export const callersAtOnce = (callers) => (durationMs) => runClosed(callers, { durationMs });

/**
 * Measures several workloads alternately, after a warm-up round.
 * @template {string} Way
 * @param {Record<Way, Measured>} ways
 * @param {{ rounds: number, roundMs: number, say: (text: string) => void }} options
 */
export async function alternate(ways, { rounds, roundMs, say }) {
  const names = /** @type {Way[]} */ (Object.keys(ways));
  const empty = () => {
    /** @type {[Way, number[]][]} */
    const entries = names.map((name) => [name, []]);
    return /** @type {Record<Way, number[]>} */ (Object.fromEntries(entries));
  };
  const rates = empty();
  const latencies = empty();
  for (let round = 0; round <= rounds; round++) {
    // Alternate the order. Otherwise the second workload always runs after the effects of the first.
    for (const name of round % 2 ? names : names.toReversed()) {
      const { perSecond, latenciesMs } = await ways[name](roundMs);
      if (round === 0) continue;
      rates[name].push(perSecond);
      for (const latencyMs of latenciesMs) latencies[name].push(latencyMs);
      say(`  round ${round}  ${name.padEnd(12)}  ${perSecond.toFixed(0).padStart(6)} calls/s`);
    }
  }
  return { rates, latencies };
}

/**
 * Returns the median of the rounds' ratios: a disturbance on the machine affects both workloads of a round.
 * @param {number[]} one @param {number[]} other
 */
export const ratioOf = (one, other) => median(one.map((rate, round) => rate / (other[round] ?? Number.NaN)));
