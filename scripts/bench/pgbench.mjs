// The minimum cost of a devalue: pgbench calls the database function directly, without Node.js.
import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** @typedef {Awaited<ReturnType<typeof import("./database.mjs").makeDatabase>>} BenchDatabase */

/** The folder of Debian's PostgreSQL programs that aren't on the PATH, by major version. */
const DEBIAN = "/usr/lib/postgresql";

/** Returns the path of pgbench if it is installed. */
export function findPgbench() {
  const versions = fs.existsSync(DEBIAN) ? fs.readdirSync(DEBIAN) : [];
  const newestFirst = versions.toSorted((one, other) => Number(other) - Number(one));
  return ["pgbench", ...newestFirst.map((version) => path.join(DEBIAN, version, "bin/pgbench"))].find((program) => {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
}

/** A devalue of one cent with an Idempotency-Key, of a random card by a random API key. Same parameters as the service's. */
async function scriptOf(/** @type {BenchDatabase["size"]} */ { cards, companies, keysEach }) {
  const { defaultLimits } = await import("@giftcard-pay/service");
  const { ruleText } = await import("../../packages/service/dist/limits/limits.js");
  return `
\\set card random(1, ${cards})
\\set key random(1, ${companies * keysEach})
select d.outcome
  from cards c, api_keys k, devalue(true, k.company_id, k.key_hash, array[c.number_hash], array[c.pin_hash],
    '${ruleText(defaultLimits.card)}', 1, 5000, gen_random_uuid(), uuid_send(gen_random_uuid()), sha256(uuid_send(gen_random_uuid())),
    sha256(uuid_send(gen_random_uuid())), array[sha256('parameters')]) d
  where c.id = :card and k.id = :key;
`;
}

/**
 * Runs pgbench. Each client makes one call after the other.
 *
 * @param {string} program
 * @param {BenchDatabase} database
 * @param {{ clients: number, durationMs: number }} load
 * @returns {ReturnType<import("./load.mjs").Measured>}
 * @throws when not every call was a devalue
 */
export async function runPgbench(program, database, { clients, durationMs }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-pgbench-"));
  try {
    const file = path.join(folder, "devalue.sql");
    fs.writeFileSync(file, await scriptOf(database.size));
    const { hostname, port, username, password, pathname } = new URL(database.url);
    const load = ["--client", clients, "--jobs", 2, "--time", Math.ceil(durationMs / 1000)];
    const how = ["--no-vacuum", "--protocol", "prepared", "--file", file];
    const before = await database.countDevalues();
    const { stdout } = await promisify(execFile)(program, [...load, ...how].map(String), {
      env: {
        ...process.env,
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGPASSWORD: password,
        PGDATABASE: pathname.slice(1),
      },
    });
    const calls = Number(/^number of transactions actually processed: (\d+)/m.exec(stdout)?.[1]);
    const devalues = (await database.countDevalues()) - before;
    if (!(calls > 0)) throw new Error("pgbench made no call: the machine is too busy to connect in time.");
    if (devalues !== calls) throw new Error(`pgbench made ${calls} calls, but only ${devalues} devalues.`);
    return { perSecond: Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]), latenciesMs: [] };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
