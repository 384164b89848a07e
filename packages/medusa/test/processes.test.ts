import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { Migration } from "@medusajs/framework/mikro-orm/migrations";
import type { Logger, MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { createProcesses } from "../src/context/processes.js";
import { Migration20261121000000 as Tables } from "../src/modules/giftcard/migrations/Migration20261121000000.js";

let pool: pg.Pool;
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await testDatabase(), max: 4 });
  const tables: Migration = new Tables({} as never, {} as never);
  await tables.up();
  for (const statement of tables.getQueries()) await pool.query(String(statement));
});
afterAll(() => pool?.end());
beforeEach(() => pool.query("delete from giftcard_process"));

const sql: Sql = async (text, params) => (await pool.query(text, params)).rows;
const logger = { debug() {}, warn() {} } as unknown as Logger;

/** A process with this locking provider, whatever its name in Medusa's configuration. */
async function start(identifier: string, connections = 10) {
  const processes = createProcesses(sql, logger, connections);
  const providerService_ = { retrieveProviderRegistration: () => ({ constructor: { identifier } }) };
  const locking = { defaultProviderId: "ours", providerService_ };
  const before = (await processes.read()).count;
  processes.start({ resolve: (name: string) => (name === Modules.LOCKING ? locking : null) } as MedusaContainer);
  await expect.poll(async () => (await processes.read()).count).toBe(before + 1);
  await pool.query("update giftcard_process set started_at = seen_at - interval '20 seconds'");
  return processes;
}

test("one process may have the lock in its memory; a second one may not", async () => {
  const first = await start("in-memory");
  expect(await first.read()).toEqual({ count: 1, locks: ["in-memory"], connections: 10, warnings: [] });
  const second = await start("in-memory");
  expect(await first.read()).toMatchObject({ count: 2, connections: 20 });
  expect((await first.read()).warnings).toEqual([{ code: "memoryLocks", values: { count: 2 } }]);
  await second.stop();
  expect((await first.read()).warnings).toEqual([]);
  await first.stop();
});

test("several processes with a common lock fit together", async () => {
  const all = [await start("locking-postgres"), await start("locking-postgres")];
  expect((await all[0]?.read())?.warnings).toEqual([]);
  for (const one of all) await one.stop();
});

test("warns of different locks", async () => {
  const all = [await start("locking-postgres"), await start("locking-redis")];
  expect((await all[0]?.read())?.warnings).toMatchObject([
    { code: "differentLocks", values: { locks: "locking-postgres, locking-redis" } },
  ]);
  for (const one of all) await one.stop();
});

test("warns of a pool that is too small for locking-postgres", async () => {
  const one = await start("locking-postgres", 3);
  expect((await one.read()).warnings).toMatchObject([{ code: "fewConnections", values: { connections: 3 } }]);
  await one.stop();
});

test("a process that died stops counting after a minute", async () => {
  const one = await start("in-memory");
  await pool.query(
    "insert into giftcard_process (id, lock, connections, started_at) values ('dead', 'in-memory', 10, now() - interval '1 day')",
  );
  expect((await one.read()).count).toBe(2);
  await pool.query("update giftcard_process set seen_at = now() - interval '61 seconds' where id = 'dead'");
  expect((await one.read()).count).toBe(1);
  await one.stop();
});

test("a command that has reported once, such as db:migrate, does not count as a process", async () => {
  const one = await start("in-memory");
  await pool.query("insert into giftcard_process (id, lock, connections) values ('command', 'in-memory', 10)");
  expect(await one.read()).toMatchObject({ count: 1, warnings: [] });
  await one.stop();
});
