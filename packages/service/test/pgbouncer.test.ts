import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findPgBouncer, type PgBouncer, startPgBouncer } from "../../../test/support/pgbouncer.js";
import { runCommand, startGiftcardService, type TestService, throughDoor } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, onCard } from "./wire.js";

// `npm run prove -- pgbouncer` runs the tests of the contract and the races through PgBouncer.
describe.skipIf(findPgBouncer() === undefined)("through PgBouncer in transaction mode", () => {
  let pooler: PgBouncer;
  let service: TestService;
  let databaseUrl: string;
  let folder: string;

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-pooled-"));
    databaseUrl = await testDatabase();
    pooler = await startPgBouncer(inject("postgresUrl"));
    service = await startGiftcardService({
      databaseUrl: throughDoor(databaseUrl, pooler.door),
      secretsFile: path.join(folder, "secrets.json"),
      args: ["--calls-per-minute", "0"],
    });
  });
  afterAll(async () => {
    await service?.stop();
    await pooler?.stop();
    fs.rmSync(folder, { recursive: true });
  });

  test("more callers than connections can devalue, cancel and repeat calls, and the ledger stays exact", async () => {
    const company = await service.createCompany();
    const card = await service.issueCard({ balanceCents: 100_000 });
    const sell = (index: number) =>
      call(
        service.url,
        "devalue",
        { ...onCard(company, card), amount: 10 },
        { headers: { "Idempotency-Key": `sale-${index % 50}` } },
      );
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => sell(index)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const token = { apikey: company.apiKey, company_id: company.companyId };
    const cancels = answers
      .slice(0, 20)
      .map(({ body }) => call(service.url, "cancelDevalue", { ...token, cancel_token: body.cancel_token }));
    expect(new Set((await Promise.all(cancels)).map(({ status }) => status))).toEqual(new Set([200]));
    const left = await call(service.url, "balance", onCard(company, card));
    expect(left.body.balance).toBe(100_000 - 30 * 10);
    expect(await service.command("check")).toMatchObject({ ok: true });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  test("the service keeps no lock, and no more database sessions than the pooler has", async () => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query(
      `select (select count(*)::int from pg_locks where locktype = 'advisory') as locks,
         (select count(*)::int from pg_stat_activity where datname = current_database()
            and application_name like 'giftcard-service%') as sessions`,
    );
    await client.end();
    expect(rows[0].locks).toBe(0);
    expect(rows[0].sessions).toBeGreaterThan(0);
    expect(rows[0].sessions).toBeLessThanOrEqual(pooler.serverConnections);
  });

  test("a command without `pgbouncer=true` in the address fails, and says that it is missing", async () => {
    const url = throughDoor(databaseUrl, pooler.door).replace("pgbouncer=true", "");
    const { exitCode, stderr } = await runCommand(["company", "list"], { GIFTCARD_DATABASE_URL: url });
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/pgbouncer=true/)]);
  });
});
