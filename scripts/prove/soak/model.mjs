// Runs random sequences of operations on a separate service, and compares each answer with a simple model.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { runRandomOperations } from "../../../packages/service/test/random-operations.mjs";

const { migrate, openKeyring, openLog, openPool, startService } = await import("@giftcard-pay/service");
const { defaultLimits } = await import("../../../packages/service/dist/limits/limits.js");

/**
 * @param {{ databaseUrl: string, steps: number, seed?: number }} options an empty database
 * @returns how often each kind of answer was seen
 * @throws at the first answer that differs from the model's, with the shortest sequence that leads there
 */
export async function modelRun({ databaseUrl, ...options }) {
  const pool = openPool(databaseUrl, () => {});
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-model-"));
  try {
    await migrate(pool);
    const keys = await openKeyring(path.join(folder, "secrets.json"), pool);
    const log = openLog({ level: "silent", environment: "sandbox" });
    const limits = { ...defaultLimits, callsPerMinute: 0, companyCallsPerMinute: 0 };
    const service = await startService({
      pool,
      keys,
      environment: "sandbox",
      host: "127.0.0.1",
      port: 0,
      log,
      limits,
    });
    try {
      return await runRandomOperations({ url: service.url, pool, keys, ...options });
    } finally {
      await service.close();
    }
  } finally {
    await pool.end();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
