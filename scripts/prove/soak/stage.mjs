// The soak's environment: a database and two service processes, which it kills and restarts.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startForwarder } from "../../lib/process/forwarder.mjs";
import { freePort, startNode } from "../../lib/process.mjs";

const { migrate, openKeyring, openPool } = await import("@giftcard-pay/service");
const { openEmbeddedPostgres } = await import("../../../packages/service/dist/postgres/embedded.js");

const PROGRAM = path.resolve(import.meta.dirname, "../../../packages/service/bin/giftcard-service.js");

/**
 * Starts a database that syncs to disk, behind a port that stays the same after a restart, and the processes.
 * @param {{ folder: string, processes: number, args?: string[] }} options
 */
export async function openStage({ folder, processes, args = [] }) {
  const dataDir = path.join(folder, "data");
  let server = await openEmbeddedPostgres({ dataDir, role: "serve" });
  const address = await startForwarder(() => Number(new URL(server.url).port));
  const url = new URL(server.url);
  url.port = String(address.port);
  const pool = openPool(url.href, () => {}, 4);
  await migrate(pool);
  const secretsFile = path.join(folder, "secrets.json");
  const keys = await openKeyring(secretsFile, pool);

  const start = async (/** @type {number} */ port) => {
    const service = await startNode({
      name: "The service",
      args: [PROGRAM, "serve", "--port", String(port), "--json", "--log-level", "error", ...args],
      cwd: folder,
      env: { GIFTCARD_DATABASE_URL: url.href, GIFTCARD_SECRETS_FILE: secretsFile },
      ready: /"url":"([^"]+)"/,
    });
    return { ...service, url: service.match[1] ?? "", port };
  };
  const ports = [];
  for (let n = 0; n < processes; n++) ports.push(await freePort());
  const services = await Promise.all(ports.map(start));
  const addresses = services.map((service) => service.url);

  return {
    pool,
    keys,
    addresses,
    /** Ends a process as a power cut would, and starts it again. @param {number} index */
    async restartService(index) {
      const old = services[index];
      if (!old) throw new Error(`There is no process ${index}.`);
      await old.kill();
      // Retry: the database may be down at the same time.
      for (let attempt = 1; ; attempt++) {
        try {
          services[index] = await start(old.port);
          return;
        } catch (error) {
          if (attempt === 20) throw error;
          await sleep(250);
        }
      }
    },
    /** Ends the database as a power cut would, and starts it again. */
    async restartDatabase() {
      const pid = Number(fs.readFileSync(path.join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
      process.kill(pid, "SIGKILL");
      await server.close();
      server = await openEmbeddedPostgres({ dataDir, role: "serve" });
    },
    async close() {
      await Promise.all(services.map((service) => service.stop()));
      await pool.end();
      await address.close();
      await server.close();
    },
  };
}
