// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawnServe } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { claimEnvironment } from "../src/store/environment.js";
import { operatorShell } from "./operator-shell.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-environment-"));
const secretsFile = path.join(folder, "secrets.json");
let databaseUrl: string;
let shell: ReturnType<typeof operatorShell>;

beforeAll(async () => {
  databaseUrl = await testDatabase();
  shell = operatorShell(databaseUrl, secretsFile);
  await shell.succeed("migrate");
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

const serve = (environment: string) =>
  spawnServe(["--environment", environment], {
    GIFTCARD_DATABASE_URL: databaseUrl,
    GIFTCARD_SECRETS_FILE: secretsFile,
  });
const serveAndStop = async (environment: string) => expect(await (await serve(environment)).stop()).toBe(0);

test("a database is served only in its own environment, until an operator changes it", async () => {
  expect(await shell.succeed("environment", "show")).toEqual({ environment: null });
  await serveAndStop("sandbox");
  expect(await shell.succeed("environment", "show")).toEqual({ environment: "sandbox" });
  await serveAndStop("sandbox");
  const { exitCode, stderr } = await shell.run(["serve", "--port", "0"]);
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringMatching(/belongs to the sandbox environment, not to live.*--environment sandbox/),
  ]);

  expect((await shell.run(["environment", "set", "live"])).exitCode).toBe(2);
  expect((await shell.run(["environment", "set", "prod", "--reason", "x"])).exitCode).toBe(2);
  expect(await shell.succeed("environment", "set", "live", "--reason", "the first start was wrong")).toEqual({
    ...{ environment: "live", before: "sandbox" },
  });
  await serveAndStop("live");
  const again = await shell.succeed("environment", "set", "live", "--reason", "again");
  expect(again).toEqual({ environment: "live", before: "live" });
  const entries: { action: string }[] = await shell.succeed("audit");
  expect(entries.filter(({ action }) => action === "environment set")).toMatchObject([
    { reason: "the first start was wrong", details: { from: "sandbox", to: "live" } },
  ]);
});

test("one of two concurrent starts with different environments is refused", async () => {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    for (let round = 0; round < 20; round++) {
      await pool.query("delete from environment");
      const claims = await Promise.allSettled(
        ["live", "sandbox", "live", "sandbox"].map((name) => claimEnvironment(pool, name as "live")),
      );
      const { rows } = await pool.query("select name from environment");
      const done = claims.map(({ status }) => status === "fulfilled");
      expect(done).toEqual(["live", "sandbox", "live", "sandbox"].map((name) => name === rows[0].name));
    }
  } finally {
    await pool.end();
  }
});
