// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { endpoints } from "@giftcard-pay/client/contract";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { hasWebProxy, startWebProxy, type WebProxy, webProxies } from "../../../test/support/web-proxy.js";
import { defaultTimeouts } from "../src/limits/limits.js";
import { basic, call, onCard } from "./wire.js";

// The example configurations of nginx and Caddy, in front of two processes on one database.

const LOGIN_FAILURES = 3;
const BASE = "/api/endpoint/v1/";
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-proxied-"));
let services: TestService[];
let databaseUrl: string;
let company: TestCompany;
let card: TestCard;
let db: pg.Client;

beforeAll(async () => {
  databaseUrl = await testDatabase();
  await startServices();
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const [first] = services as [TestService];
  company = await first.createCompany();
  card = await first.issueCard({ balanceCents: 5000 });
});
afterAll(async () => {
  await db.end();
  await stopServices();
  fs.rmSync(folder, { recursive: true });
});

async function startServices() {
  const limits = { proxies: 1, login: { failures: LOGIN_FAILURES } };
  const options = { databaseUrl, secretsFile: path.join(folder, "secrets.json"), limits };
  services = [await startGiftcardService(options), await startGiftcardService(options)];
}
const stopServices = () => Promise.all(services.map((service) => service.kill()));
const hosts = () => services.map(({ url }) => new URL(url).host);

const HOST = "Host: cards.example\r\n";
const CLOSE = "Connection: close\r\n";
const get = (target: string, headers = HOST) => `GET ${target} HTTP/1.1\r\n${headers}${CLOSE}\r\n`;
function post(target: string, parameters: Record<string, unknown>, headers = "") {
  const body = JSON.stringify(parameters);
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `POST ${target} HTTP/1.1\r\n${HOST}${CLOSE}${type}${headers}\r\n${body}`;
}
const statusOf = (received: string) => Number(/^HTTP\/1.1 (\d{3}) /.exec(received)?.[1]);
const devalue = (amount: number) => ({ ...onCard(company, card), amount });
const balance = async () =>
  (await call((services[0] as TestService).url, "balance", onCard(company, card))).body.balance;

describe.each(webProxies)("%s", (name) => {
  describe.skipIf(!hasWebProxy(name))("with its example (skipped if the program or `openssl` is not installed)", () => {
    let proxy: WebProxy;
    // Each proxy has callers of its own, since the limits of an address are stored in the database.
    const [caller, other] = name === "nginx" ? ["127.0.0.2", "127.0.0.3"] : ["127.0.0.4", "127.0.0.5"];
    beforeAll(async () => {
      proxy = await startWebProxy(name, hosts());
    });
    afterAll(() => proxy?.stop());

    test("a devalue works, with its Idempotency-Key, and so does its reversal", async () => {
      const before = await balance();
      const key = `Idempotency-Key: ${crypto.randomUUID()}\r\n`;
      const answers = [];
      for (let round = 0; round < 2; round++)
        answers.push(await proxy.exchange(post(`${BASE}devalue`, devalue(100), key)));
      expect(answers.map(statusOf)).toEqual([200, 200]);
      expect(answers[0]).toMatch(/^idempotency-key: /im);
      expect(answers[1]).toMatch(/^idempotency-replayed: true/im);
      expect(answers[0]).toMatch(/^giftcard-environment: live/im);
      expect(await balance()).toBe(before - 100);
      const [, cancel_token] = /"cancel_token":"(\w+)"/.exec(String(answers[0])) ?? [];
      const token = { apikey: company.apiKey, company_id: company.companyId, cancel_token };
      expect(statusOf(await proxy.exchange(post(`${BASE}canceldevalue/`, token)))).toBe(200);
      expect(await balance()).toBe(before);
    });

    test("limits count the caller's real address, whatever X-Forwarded-For it sends", async () => {
      const login = (index: number, from: string) => {
        const { Authorization } = basic(`nobody-${from}-${index}@example.nl`, "wrong");
        const forged = `X-Forwarded-For: 198.51.100.${index}, 198.51.100.9\r\nX-Forwarded-For: 203.0.113.${index}\r\n`;
        return proxy.exchange(post(`${BASE}authenticate/`, {}, `Authorization: ${Authorization}\r\n${forged}`), from);
      };
      const statuses = [];
      for (let index = 0; index <= LOGIN_FAILURES; index++) statuses.push(statusOf(await login(index, caller)));
      expect(statuses).toEqual([...Array(LOGIN_FAILURES).fill(401), 429]);
      expect(statusOf(await login(9, other))).toBe(401);
      expect(proxy.logs()).toContain(caller);
      expect(proxy.logs()).not.toContain("203.0.113.");
    });

    test.each([
      "/",
      "/metrics",
      "/readyz",
      "//readyz",
      "/openapi.json",
      "/api/endpoint/v1",
      "/api/endpoint/v1/../../../readyz",
      "/api/endpoint/v1/%2e%2e/%2e%2e/%2e%2e/readyz",
      "/api/endpoint/v1/..%2f..%2f..%2freadyz",
      "/api/endpoint/v1//../../../../readyz",
      "/api/endpoint/v1/..;/..;/..;/readyz",
      "/api/endpoint/v1/get_providers/../../../../readyz",
      "/readyz/../api/endpoint/v1/get_providers",
      "/metrics/../api/endpoint/v1/get_providers",
      "/readyz?/api/endpoint/v1/",
      "/readyz%3f/../api/endpoint/v1/",
      "//api//endpoint/v1/get_providers",
      "/%61pi/endpoint/v1/../../../metrics",
      "https://cards.example/readyz",
      "https://cards.example/metrics",
    ])("%s leads nowhere", async (target) => {
      const received = await proxy.exchange(get(target));
      expect([400, 404]).toContain(statusOf(received));
      expect(received).not.toMatch(/giftcard_|"status":"/);
    });

    test("the nine operations are reached by their paths", async () => {
      const expected: Record<string, number> = { get_providers: 200, "authenticate/": 401 };
      for (const { path: of, method } of Object.values(endpoints)) {
        const received = await proxy.exchange(method === "GET" ? get(BASE + of) : post(BASE + of, {}));
        expect([of, statusOf(received)]).toEqual([of, expected[of] ?? 422]);
      }
    });

    test.each([
      ["two Host headers", `${HOST}Host: other.example\r\n`],
      ["two equal Host headers", HOST + HOST],
      ["no Host header", ""],
    ])("%s get 400", async (_what, headers) => {
      expect(statusOf(await proxy.exchange(get(`${BASE}get_providers`, headers)))).toBe(400);
    });

    test("bodies may be as large as the service allows, and larger ones get 413", async () => {
      const limit = endpoints.createEvents.bodyLimitBytes;
      const sized = (bytes: number) => post(`${BASE}newevent`, { apikey: "x", pad: "y".repeat(bytes - 23) });
      expect(Buffer.byteLength(sized(limit).split("\r\n\r\n")[1] as string)).toBe(limit);
      // The body is read, and then judged.
      expect(statusOf(await proxy.exchange(sized(limit)))).toBe(422);
      // The service closes the connection after its answer. Caddy may notice that before it has sent the body.
      const refusal = name === "nginx" ? /^HTTP\/1.1 413 .*\{"error":/s : /^HTTP\/1.1 (413|502) /;
      expect(await proxy.exchange(sized(limit + 1))).toMatch(refusal);
      const tooLarge = await proxy.exchange(sized(2 * limit)).catch((error) => error.code);
      expect(tooLarge).toMatch(/^HTTP\/1.1 (413|502) |^ECONNRESET$|^EPIPE$/);
      expect(proxy.logs()).not.toContain("temporary file");
    });

    test("no log has a body, a query or a secret", async () => {
      await proxy.exchange(post(`${BASE}balance?apikey=${company.apiKey}`, onCard(company, card)));
      const { Authorization } = basic(company.email, company.password);
      const answer = await proxy.exchange(
        post(`${BASE}authenticate/`, {}, `Authorization: ${Authorization}\r\n`),
        other,
      );
      const [, apiKey] = /"apikey":"(\w+)"/.exec(answer) ?? [];
      await expect.poll(() => proxy.logs()).toContain("authenticate");
      const secrets = [company.apiKey, apiKey, card.cardNumber, card.pin, Authorization, company.password];
      for (const secret of secrets) {
        expect(String(secret).length).toBeGreaterThan(3);
        expect(proxy.logs()).not.toContain(secret);
      }
    });

    test("a devalue is not sent to the second process when the first one dies in the middle of it", async () => {
      await db.query("begin; lock table cards in access exclusive mode");
      const rows = async () =>
        (await db.query("select count(*)::int as n from ledger where kind = 'devalue'")).rows[0].n;
      const before = await rows();
      const answer = proxy.exchange(post(`${BASE}devalue`, devalue(100)));
      const inFlight = async (service: TestService) => /^giftcard_calls_in_flight 1$/m.test(await service.metrics());
      const findBusy = async () => {
        for (const service of services) if (await inFlight(service)) return service;
        return undefined;
      };
      await expect.poll(findBusy).toBeDefined();
      const busy = (await findBusy()) as TestService;
      process.kill(busy.pid, "SIGKILL");
      expect(statusOf(await answer)).toBe(502);
      expect(await findAlive(busy)).toBe(false);
      await db.query("rollback");
      // The statement of the dead process may still be executed, but only that one.
      expect((await rows()) - before).toBeLessThanOrEqual(1);
      const busyAgain = await Promise.all(services.filter((one) => one !== busy).map(inFlight));
      expect(busyAgain).toEqual([false]);
      await proxy.stop();
      await stopServices();
      await startServices();
      proxy = await startWebProxy(name, hosts());
    });
    const findAlive = (service: TestService) =>
      fetch(`${service.url}/healthz`).then(
        () => true,
        () => false,
      );
  });
});

describe("both examples", () => {
  const read = (name: string) => fs.readFileSync(path.resolve(import.meta.dirname, "../deploy", name), "utf8");
  const nginx = read("nginx.conf");
  const caddy = read("Caddyfile");
  const secondsOf = (text: string, setting: RegExp) => [...text.matchAll(setting)].map(([, value]) => Number(value));

  test("wait longer than the service works on a call, and close idle connections before it does", () => {
    const waits = [
      ...secondsOf(nginx, /proxy_(?:send|read)_timeout (\d+)s;/g),
      ...secondsOf(caddy, /response_header_timeout (\d+)s/g),
    ];
    expect(waits).toHaveLength(3);
    // A statement takes at most 15 seconds, after at most five seconds of waiting for a connection.
    for (const wait of waits) expect(wait).toBeGreaterThan(defaultTimeouts.requestMs / 1000 + 20);
    const upstream = /upstream \w+ \{.*?^\}/ms.exec(nginx)?.[0] as string;
    const idle = [...secondsOf(upstream, /keepalive_timeout (\d+)s;/g), ...secondsOf(caddy, /keepalive (\d+)s/g)];
    expect(idle).toHaveLength(2);
    for (const one of idle) expect(one).toBeLessThan(defaultTimeouts.idleMs / 1000);
  });

  test("name the setting of the service that fits them", () => {
    for (const text of [nginx, caddy]) expect(text).toContain("GIFTCARD_PROXIES=1");
  });
});
