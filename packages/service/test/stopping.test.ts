// @module-tag long

import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand, type ServeProcess, spawnServe } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { onCard } from "./wire.js";

/** `RESTARTS=20` runs a longer test. */
const RESTARTS = Number(process.env.RESTARTS ?? 2);
const CALLERS = 32;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-stopping-"));
let env: Record<string, string>;
let wire: Record<string, unknown>;

beforeAll(async () => {
  env = {
    GIFTCARD_DATABASE_URL: await testDatabase(),
    GIFTCARD_SECRETS_FILE: path.join(folder, "secrets.json"),
    GIFTCARD_CALLS_PER_MINUTE: "0",
  };
  const command = async (...args: string[]) => JSON.parse((await runCommand([...args, "--json"], env)).stdout);
  await command("migrate");
  const shop = ["company", "create", "--name", "A", "--email", "a@example.nl", "--password", "sesame"];
  const { company_id: companyId, apikey: apiKey } = await command(...shop);
  const { cardnumber: cardNumber, pin } = await command("card", "issue", "--balance", "5000");
  wire = onCard({ companyId, apiKey } as never, { cardNumber, pin } as never);
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

interface Outcome {
  readonly status?: number | undefined;
  readonly connection?: string | undefined;
  readonly code?: string | undefined;
}

function balance(url: string, agent: http.Agent): Promise<Outcome> {
  return new Promise((resolve) => {
    const request = http.request(
      `${url}/api/endpoint/v1/balance`,
      { method: "POST", agent, headers: { "Content-Type": "application/json" } },
      (answer) => {
        answer.resume();
        answer.once("end", () => resolve({ status: answer.statusCode, connection: answer.headers.connection }));
        answer.once("error", ({ message }) => resolve({ code: message }));
      },
    );
    request.once("error", (error: NodeJS.ErrnoException) => resolve({ code: error.code ?? error.message }));
    request.end(JSON.stringify(wire));
  });
}

/** Calls continuously, with a persistent connection for each caller, until the port is closed. */
async function load(url: string, onOutcome: (outcome: Outcome) => void): Promise<void> {
  const caller = async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (;;) {
      const outcome = await balance(url, agent);
      onOutcome(outcome);
      if (outcome.code !== undefined) break;
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

const ready = async (url: string): Promise<unknown> => {
  const answer = await fetch(`${url}/readyz`, { headers: { Connection: "close" } });
  return [answer.status, ((await answer.json()) as { status: string }).status];
};

describe("SIGTERM", () => {
  const start = (graceSeconds: number) =>
    spawnServe(["--log-level", "warn"], { ...env, GIFTCARD_STOP_GRACE: String(graceSeconds) });

  test(`under load, ${RESTARTS} times, first makes /readyz answer 503, then ends each connection after an answer, and resets none`, {
    timeout: RESTARTS * 60_000,
  }, async () => {
    for (let restart = 0; restart < RESTARTS; restart++) {
      const service: ServeProcess = await start(2);
      const outcomes: Outcome[] = [];
      const loaded = load(service.url, (outcome) => outcomes.push(outcome));
      await expect.poll(() => outcomes.length).toBeGreaterThan(CALLERS * 4);
      await expect.poll(() => ready(service.url)).toEqual([200, "ready"]);
      const stopped = service.stop();
      await expect.poll(() => ready(service.url)).toEqual([503, "ending"]);
      const during = outcomes.length;
      await loaded;
      expect(await stopped).toBe(0);
      // Every call that reached the service was answered with 200, and later connections were refused.
      expect(outcomes.length).toBeGreaterThan(during);
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([200, undefined]));
      expect(outcomes.flatMap(({ code }) => code ?? [])).toEqual(Array(CALLERS).fill("ECONNREFUSED"));
      expect(outcomes.filter(({ connection }) => connection === "close")).toHaveLength(CALLERS);
    }
  });

  test("skips the grace period if it is sent twice", async () => {
    const service = await start(600);
    process.kill(service.pid, "SIGTERM");
    await expect.poll(() => ready(service.url)).toEqual([503, "ending"]);
    expect(await service.stop()).toBe(0);
  });
});
