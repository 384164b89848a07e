import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, test } from "vitest";
import { startGiftcardService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { callTill, createTill, issueActive, issueStock, type StockCard } from "./till-calls.js";

const ROUNDS = 3;
const AMOUNT = 25;

test("after a kill -9 during many loads, repetitions by the same keys complete them, each once", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-till-crash-"));
  const secretsFile = path.join(folder, "secrets.json");
  const databaseUrl = await testDatabase();
  const start = () => startGiftcardService({ databaseUrl, secretsFile, args: ["--calls-per-minute", "0"] });
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  let service = await start();
  try {
    const { apikey } = await createTill(service, await service.createCompany());
    for (let round = 0; round < ROUNDS; round++) {
      const active: StockCard[] = [];
      const stock: StockCard[] = [];
      for (let index = 0; index < 6; index++) {
        active.push(await issueActive(service, 0));
        stock.push(await issueStock(service, AMOUNT));
      }
      const loads = [
        ...Array.from({ length: 60 }, (_, index) => ({ card: active[index % 6], operation: "top-up" as const })),
        ...stock.map((card) => ({ card, operation: "activate" as const })),
      ].map((load) => ({ ...load, key: randomUUID() }));
      const send = (url: string) =>
        Promise.all(
          loads.map(({ card, operation, key }) => {
            const parameters = { apikey, cardnumber: card?.cardnumber, amount: AMOUNT };
            return callTill(url, operation, parameters, { key }).then(
              ({ status }) => status,
              () => undefined,
            );
          }),
        );
      const before = await movedCents(db);
      // The loads of one card wait, so that some are surely interrupted.
      await db.query("begin");
      await db.query("select from cards where last_four = $1 for update", [active[0]?.cardnumber.slice(-4)]);
      const interrupted = send(service.url);
      while ((await movedCents(db)) === before) await sleep(1);
      await service.kill();
      await db.query("rollback");
      expect(await interrupted).toContain(undefined);
      service = await start();
      expect(await send(service.url)).toEqual(loads.map(() => 200));
      expect((await movedCents(db)) - before).toBe(loads.length * AMOUNT);
      expect(await service.command("check")).toMatchObject({ ok: true, faults: [] });
    }
    const { rows } = await db.query("select sum(cents)::int as cents from key_loads");
    expect(rows[0].cents).toBe(await movedCents(db));
  } finally {
    await db.end();
    await service.stop();
    fs.rmSync(folder, { recursive: true });
  }
});

const movedCents = async (db: pg.Client): Promise<number> =>
  (await db.query("select coalesce(sum(amount_cents), 0)::int as cents from ledger")).rows[0].cents;
