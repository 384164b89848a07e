// How much of the database's speed the service keeps: devalues a second over HTTP on 32 connections, against the same
// statement straight by the driver on 32 connections, in turns within one run. Takes about half a minute.
import { randomInt } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { build } from "./build.mjs";
import { startNode } from "./process.mjs";

const json = process.argv.includes("--json");
/** @param {string} text */
const say = (text) => json || console.log(text);

await build(["service"], { progress: say });
const { cents, Secret } = await import("@giftcard-pay/client/contract");
const { openKeyring, openPool } = await import("@giftcard-pay/service");
const { createCompany } = await import("../packages/service/dist/store/accounts.js");
const { DEVALUE_STATEMENT, devalueValues, issueCards } = await import(
  "../packages/service/dist/store/cards.js"
);

const CONNECTIONS = 32;
const ROUNDS = 4;
const ROUND_MS = 3000;
const CARDS = 2000;
const AMOUNT_CENTS = cents(1);
const PROGRAM = path.resolve(import.meta.dirname, "../packages/service/bin/giftcard-service.js");

/**
 * Runs all callers side by side until the time is over, and gives calls a second.
 * @param {(() => Promise<void>)[]} callers
 */
async function rate(callers) {
  let done = 0;
  const startedAt = performance.now();
  const caller = async (/** @type {() => Promise<void>} */ once) => {
    while (performance.now() - startedAt < ROUND_MS) {
      await once();
      done += 1;
    }
  };
  await Promise.all(callers.map(caller));
  return done / ((performance.now() - startedAt) / 1000);
}

/**
 * One keep-alive connection that does as little work as it can, so that the service is what is measured.
 * @param {string} url
 * @param {() => string} bodyOf
 */
function openConnection(url, bodyOf) {
  const { hostname, port, host } = new URL(url);
  const socket = net.connect(Number(port), hostname).setNoDelay();
  let received = "";
  /** @type {{ resolve: () => void, reject: (error: Error) => void } | undefined} */
  let settle;
  socket.setEncoding("latin1");
  socket.on("error", (error) => settle?.reject(error));
  socket.on("close", () => settle?.reject(new Error("The service closed the connection.")));
  socket.on("data", (chunk) => {
    received += chunk;
    const head = received.indexOf("\r\n\r\n");
    const length = head < 0 ? Number.NaN : Number(/content-length: (\d+)/i.exec(received)?.[1]);
    if (!(received.length >= head + 4 + length)) return;
    const answer = received;
    received = "";
    if (answer.startsWith("HTTP/1.1 200")) settle?.resolve();
    else settle?.reject(new Error(`The service answered: ${answer.slice(head + 4)}`));
  });
  const call = () =>
    /** @type {Promise<void>} */ (
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        const body = bodyOf();
        socket.write(
          `POST /api/endpoint/v1/devalue HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${body}`,
        );
      })
    );
  return { call, close: () => socket.destroy() };
}

/** @param {string} dataDir */
function databaseUrl(dataDir) {
  const port = fs.readFileSync(path.join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[3];
  return `postgres://postgres:${fs.readFileSync(path.join(dataDir, "postgres.password"), "utf8")}@127.0.0.1:${port}/postgres`;
}

/** @param {number[]} numbers */
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/**
 * @param {string} url
 * @param {import("pg").Pool} pool
 * @param {import("@giftcard-pay/service").Keyring} keys
 */
async function measure(url, pool, keys) {
  const { companyId, apiKey } = await createCompany(pool, {
    name: "Bench",
    email: "bench@example.nl",
    password: new Secret("bench"),
  });
  const order = { count: CARDS, balanceCents: cents(100_000_000), expiryDate: "2099-12-31" };
  const cards = await issueCards(pool, keys, order);
  const anyCard = () => /** @type {(typeof cards)[number]} */ (cards[randomInt(CARDS)]);
  const straight = async () => {
    const values = devalueValues(keys, {
      companyId,
      ...anyCard(),
      amountCents: AMOUNT_CENTS,
      idempotencyKey: undefined,
    });
    const { rows } = await pool.query({ name: "devalue", text: DEVALUE_STATEMENT, values });
    if (rows[0].outcome !== "done") throw new Error(`The statement answered ${rows[0].outcome}.`);
  };
  const bodyOf = () => {
    const { cardNumber, pin } = anyCard();
    const who = `apikey=${apiKey.reveal()}&company_id=${companyId}`;
    return `${who}&cardnumber=${cardNumber.reveal()}&pin=${pin.reveal()}&amount=${AMOUNT_CENTS}`;
  };
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(url, bodyOf));
  const ways = {
    driver: Array.from({ length: CONNECTIONS }, () => straight),
    http: connections.map((connection) => connection.call),
  };
  /** @type {Record<"driver" | "http", number[]>} */
  const rates = { driver: [], http: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of /** @type {const} */ (["driver", "http"])) {
      const perSecond = await rate(ways[way]);
      // The first round warms up.
      if (round === 0) continue;
      rates[way].push(perSecond);
      say(`round ${round}  ${way.padEnd(6)}  ${perSecond.toFixed(0).padStart(6)} devalues/s`);
    }
  }
  for (const connection of connections) connection.close();
  return rates;
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-bench-"));
const dataDir = path.join(folder, "data");
say("starting the service on a database that syncs to disk");
const service = await startNode({
  name: "The service",
  // The key makes more calls than a shop: its limit is on, and out of reach.
  args: [PROGRAM, "serve", "--port", "0", "--json", "--data-dir", dataDir, "--calls-per-minute", "100000000"],
  cwd: folder,
  env: { GIFTCARD_DATABASE_URL: undefined, GIFTCARD_SECRETS_FILE: undefined },
  ready: /"url":"([^"]+)"/,
});
const pool = openPool(databaseUrl(dataDir), () => {}, CONNECTIONS);
try {
  const keys = await openKeyring(path.join(dataDir, "secrets.json"), pool);
  const rates = await measure(service.match[1] ?? "", pool, keys);
  const devalueRatio = median(rates.http.map((http, round) => http / (rates.driver[round] ?? Number.NaN)));
  const result = {
    connections: CONNECTIONS,
    devaluesPerSecond: Math.round(median(rates.http)),
    driverDevaluesPerSecond: Math.round(median(rates.driver)),
    devalueRatio: Number(devalueRatio.toFixed(3)),
  };
  if (json) console.log(JSON.stringify(result));
  else for (const [name, value] of Object.entries(result)) console.log(`${name}  ${value}`);
} finally {
  await pool.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
