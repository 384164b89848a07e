// Measures the service's speed as ratios within one run: against its database, with more data, with more processes, and
// over time. Also measures what a gift card adds to a purchase, what the widget adds to a page, and how long a list of
// events takes. All numbers except the ratios depend on the machine.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {
  CONNECTIONS,
  measureDevalues,
  measureFloor,
  measureGrowth,
  measureLists,
  measureMemory,
} from "./bench/service.mjs";
import { build } from "./build.mjs";
import { command, UsageError } from "./lib/command.mjs";

const PARTS = ["devalue", "floor", "growth", "memory", "lists", "carts", "widget", "events"];
const HELP = `Measures speed, as ratios within one run.

  npm run bench                        everything, in about ten minutes
  npm run bench -- --only carts        only these parts, comma-separated: ${PARTS.join(", ")}
  npm run bench -- --full              full size: a million cards and calls, 200 carts of each kind (an hour)
  npm run bench -- --json              prints the result as JSON, and progress on standard error

docs/performance.md explains each figure. If a part fails, the others are still measured; exits with 1. Carts are bought in a shop that the first run installs
(scripts/bench/loyalty, 700 MB, a minute or two).
`;
const SMALL = { cards: 10_000, ledgerRows: 10_000, companies: 1, keysEach: 1 };
const LARGE = { cards: 200_000, ledgerRows: 1_000_000, companies: 20, keysEach: 3 };
const FULL = { cards: 1_000_000, ledgerRows: 5_000_000, companies: 50, keysEach: 3 };

/** Makes a function run once: later calls get its first result. @template T @param {() => Promise<T>} make */
function once(make) {
  /** @type {Promise<T> | undefined} */
  let made;
  return () => (made ??= make());
}

const options = /** @type {const} */ ({
  json: { type: "boolean" },
  full: { type: "boolean" },
  only: { type: "string" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const { only, full: isFull, json } = values;
  const parts = only === undefined ? PARTS : only.split(",");
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new UsageError(`There is no part "${unknown}".`);
  const needed = ["service"];
  if (parts.includes("carts")) needed.push("store");
  if (parts.includes("widget")) needed.push("widget");
  if (parts.includes("events")) needed.push("events");
  await build(needed, { progress: say, signal });
  const { makeDatabase } = await import("./bench/database.mjs");
  const { openEmbeddedPostgres } = await import("../packages/service/dist/postgres/embedded.js");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-bench-"));
  say("starting a database that syncs to disk");
  const server = await openEmbeddedPostgres({ dataDir: path.join(folder, "data"), role: "serve" });
  const common = { serverUrl: server.url, folder, connections: CONNECTIONS, say };
  /** @type {Awaited<ReturnType<typeof makeDatabase>>[]} */
  const opened = [];
  /** @param {"small" | "large"} name @param {typeof SMALL} size */
  const fill = async (name, size) => {
    signal.throwIfAborted();
    say(`filling the ${name} database`);
    const database = await makeDatabase({ ...common, name, ...size });
    opened.push(database);
    return database;
  };
  /** @type {Record<string, number>} */
  const result = { connections: CONNECTIONS };
  const bench = { result, say };
  const small = once(() => fill("small", SMALL));
  const size = isFull ? FULL : LARGE;
  const calls = isFull ? 1_000_000 : 100_000;
  /** @type {Record<string, () => Promise<unknown>>} */
  const measures = {
    devalue: async () => measureDevalues(bench, await small()),
    floor: async () => measureFloor(bench, await small()),
    memory: async () => measureMemory(bench, await small(), calls),
    lists: async () => measureLists(bench, await small()),
    async growth() {
      const large = await fill("large", size);
      say(`${size.cards} cards with ${size.ledgerRows} ledger rows, against ${SMALL.cards} cards`);
      await measureGrowth(bench, await small(), large);
    },
    async carts() {
      say("completing carts with a card, without one, and with Medusa's loyalty plugin");
      const { benchCarts } = await import("./bench/carts.mjs");
      Object.assign(result, await benchCarts({ serverUrl: server.url, carts: isFull ? 200 : 30, say }));
    },
    async widget() {
      say("the widget in Chromium, compared with a minimal Lit element");
      const { widgetBench } = await import("../packages/widget/bench/widget-bench.mjs");
      Object.assign(result, await widgetBench());
    },
    async events() {
      say("5,000 events, read and written");
      const { benchEvents } = await import("./bench/events.mjs");
      Object.assign(result, await benchEvents());
    },
  };
  /** The parts that failed, with the reason. @type {Record<string, string>} */
  const failed = {};
  try {
    for (const part of PARTS.filter((one) => parts.includes(one))) {
      signal.throwIfAborted();
      try {
        await measures[part]?.();
      } catch (error) {
        if (signal.aborted) throw error;
        failed[part] = error instanceof Error ? error.message : String(error);
        say(`${part} failed: ${failed[part]}`);
      }
    }
    if (json) console.log(JSON.stringify({ ...result, ...(Object.keys(failed).length > 0 && { failed }) }));
    else {
      for (const [name, value] of Object.entries(result)) console.log(`${name.padEnd(26)}  ${value}`);
      for (const [part, why] of Object.entries(failed)) console.log(`${part.padEnd(26)}  failed: ${why}`);
    }
    return Object.keys(failed).length > 0 ? 1 : 0;
  } finally {
    for (const database of opened) await database.close();
    await server.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
