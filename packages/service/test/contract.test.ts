import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {
  type Endpoint,
  type EndpointName,
  type ErrorCode,
  endpoints,
  errorDefinition,
} from "@giftcard-pay/client/contract";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call, credentials, type Encoding, eventInput, onCard, type WireCall } from "./wire.js";

// Starts four services one after the other.
vi.setConfig({ hookTimeout: 180_000 });
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-contract-"));
const secretsFile = path.join(folder, "secrets.json");
let service: TestService;
let broken: TestService;
/** Allows one call per minute and key. */
let strict: TestService;
/** Allows one concurrent call, and that one hangs. */
let full: TestService;
let hanging: { release(): Promise<void> };
/** A client address of its own. Failed logins from it do not count against the other tests. */
const otherAddress = { "X-Forwarded-For": "198.51.100.1" };
/** A company that exceeds the limits of calls and logins. */
let busy: TestCompany;
let company: TestCompany;
let other: TestCompany;
let provider: { id: number };
const cards: Record<"rich" | "blocked" | "expired" | "empty" | "locked", TestCard> = {} as never;

beforeAll(async () => {
  service = await startGiftcardService({
    databaseUrl: await testDatabase(),
    secretsFile,
    args: ["--proxies", "1"],
  });
  company = await service.createCompany();
  other = await service.createCompany();
  provider = await service.createProvider();
  cards.rich = await service.issueCard({ balanceCents: 50_000_000 });
  cards.blocked = await service.issueCard({ balanceCents: 5000 });
  cards.expired = await service.issueCard({ balanceCents: 5000, expires: "2020-02-29" });
  cards.empty = await service.issueCard({ balanceCents: 0 });
  cards.locked = await service.issueCard({ balanceCents: 5000 });
  await service.command("card", "block", cards.blocked.cardNumber);
  for (let failures = 0; failures < 10; failures++)
    await call(service.url, "balance", { ...onCard(company, cards.locked), pin: "not it" });
  busy = await service.createCompany();
  for (let failures = 0; failures < 10; failures++)
    await call(service.url, "authenticate", {}, { headers: { ...basic(busy.email, "wrong"), ...otherAddress } });

  broken = await startGiftcardService({ databaseUrl: await testDatabase() });
  const client = new pg.Client({ connectionString: broken.databaseUrl });
  await client.connect();
  await client.query("drop schema public cascade");
  await client.end();

  const sameDatabase = { databaseUrl: service.databaseUrl, secretsFile };
  strict = await startGiftcardService({ ...sameDatabase, args: ["--calls-per-minute", "1"] });
  await call(strict.url, "listEvents", { apikey: busy.apiKey });
  full = await startGiftcardService({ databaseUrl: await testDatabase(), limits: { callsAtOnce: 1 } });
  hanging = await hang(full);
});

/** Makes a call wait for a locked table until it is released. */
async function hang(at: TestService): Promise<typeof hanging> {
  const client = new pg.Client({ connectionString: at.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query("lock table providers in access exclusive mode");
  const waiting = call(at.url, "listProviders");
  for (;;) {
    // Other databases of the same server have locks too.
    const { rows } = await client.query(
      "select from pg_locks where not granted and relation = 'providers'::regclass and database = (select oid from pg_database where datname = current_database())",
    );
    if (rows.length > 0) break;
  }
  return {
    async release() {
      await client.query("commit");
      expect((await waiting).status).toBe(200);
      await client.end();
    },
  };
}

afterAll(async () => {
  await hanging.release();
  for (const running of [service, broken, strict, full]) await running.stop();
  fs.rmSync(folder, { recursive: true });
});

interface Sample {
  readonly parameters: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

/** A successful call of each operation. */
const samples: Record<EndpointName, () => Promise<Sample>> = {
  authenticate: async () => ({ parameters: {}, headers: basic(company.email, company.password) }),
  listEvents: async () => ({ parameters: { apikey: company.apiKey } }),
  createEventConcept: async () => ({
    parameters: {
      apikey: company.apiKey,
      representative: "J. de Vries",
      register: "Zomer",
      eventprovider_id: provider.id,
    },
  }),
  listEventConcepts: async () => ({ parameters: { apikey: company.apiKey } }),
  listProviders: async () => ({ parameters: {} }),
  createEvents: async () => ({ parameters: { apikey: company.apiKey, events: [eventInput(provider.id)] } }),
  balance: async () => ({ parameters: onCard(company, cards.rich) }),
  devalue: async () => ({ parameters: { ...onCard(company, cards.rich), amount: 150 } }),
  cancelDevalue: async () => {
    const { body } = await call(service.url, "devalue", { ...onCard(company, cards.rich), amount: 150 });
    return { parameters: { ...credentials(company), cancel_token: body.cancel_token } };
  },
};

/** The exact field names and JavaScript types of each operation's answer. */
const shapes: Record<EndpointName, unknown> = {
  authenticate: { apikey: "string" },
  listEvents: [
    {
      id: "number",
      company_id: "number",
      bannerpath: "string",
      poster: "string",
      title: "string",
      description: "string",
      organiser: "string",
      date: "string",
      time: "string",
      end_date: "object",
      end_time: "object",
      location: "string",
      ticket_link: "string",
      created_at: "string",
      updated_at: "string",
    },
  ],
  createEventConcept: {
    eventconcept_id: "number",
    register: "string",
    representative: "string",
    eventprovider_id: "string",
  },
  listEventConcepts: [
    {
      id: "number",
      representative: "string",
      register: "string",
      ticketprovider_id: "string",
      created_at: "string",
      updated_at: "string",
    },
  ],
  listProviders: [{ id: "number", name: "string" }],
  createEvents: [{ message: "string", id: "number", title: "string" }],
  balance: {
    success: "boolean",
    balance: "number",
    currency: "string",
    card_status: "string",
    expiry_date: "string",
  },
  devalue: {
    success: "boolean",
    amount_deducted: "number",
    remaining_to_pay: "number",
    cancel_token: "string",
  },
  cancelDevalue: { success: "boolean", amount_refunded: "number", card_new_balance: "number" },
};

const typesOf = (value: object) => Object.fromEntries(Object.entries(value).map(([key, item]) => [key, typeof item]));

interface Provocation {
  readonly change?: (parameters: Record<string, unknown>) => Record<string, unknown>;
  readonly call?: WireCall;
  readonly at?: () => TestService;
}

/** The header with a key that was already used with other parameters. */
const reusedKey = { "Idempotency-Key": "contract-other-parameters" };

/** How to provoke each error, on any operation that lists it. */
const provocations: Partial<Record<ErrorCode, (row: Endpoint) => Provocation>> = {
  invalid_request: (row) => ({ change: ({ [missing(row)]: _, ...rest }) => rest }),
  unreadable_body: () => ({ call: { encoding: "json", raw: '{"apikey": ' } }),
  body_too_large: (row) => ({ call: { raw: "x".repeat(row.bodyLimitBytes + 1) } }),
  unsupported_media_type: () => ({ call: { headers: { "Content-Type": "text/plain" } } }),
  unauthorized: () => ({ change: (rest) => ({ ...rest, apikey: "nobody's key" }) }),
  invalid_credentials: () => ({ call: { headers: basic(company.email, "wrong") } }),
  invalid_card: () => ({ change: (rest) => ({ ...rest, pin: "not it" }) }),
  card_blocked: () => ({ change: (rest) => ({ ...rest, ...cardOf(cards.blocked) }) }),
  card_expired: () => ({ change: (rest) => ({ ...rest, ...cardOf(cards.expired) }) }),
  card_no_balance: () => ({ change: (rest) => ({ ...rest, ...cardOf(cards.empty) }) }),
  token_invalid: () => ({ change: (rest) => ({ ...rest, cancel_token: "0".repeat(64) }) }),
  token_used: () => ({
    change: ({ cancel_token, ...rest }) => ({ ...rest, cancel_token: usedToken ?? cancel_token }),
  }),
  devalue_not_done: () => ({
    change: ({ cancel_token: _, ...rest }) => rest,
    call: { headers: { "Idempotency-Key": "contract-never-done" } },
  }),
  key_closed: () => ({ call: { headers: { "Idempotency-Key": "contract-never-done" } } }),
  idempotency_key_invalid: () => ({ call: { headers: { "Idempotency-Key": "two words" } } }),
  idempotency_key_reused: () => ({ call: { headers: reusedKey } }),
  idempotency_key_spent: () => ({ call: { headers: { "Idempotency-Key": "contract-yesterday" } } }),
  card_locked: () => ({ change: (rest) => ({ ...rest, ...cardOf(cards.locked) }) }),
  // A login is limited by its account, every other call by its key.
  rate_limited: (row) =>
    row.auth === "basic"
      ? { call: { headers: basic(busy.email, busy.password) } }
      : { change: (rest) => ({ ...rest, ...credentialsFor(rest, busy) }), at: () => strict },
  overloaded: () => ({ at: () => full }),
  internal: () => ({ at: () => broken }),
};

/** Codes that only other services use. */
const notProvoked: readonly ErrorCode[] = ["card_not_active"];

/** Returns a company's credentials with the parameters that the operation expects. */
const credentialsFor = (parameters: Record<string, unknown>, as: TestCompany) =>
  "company_id" in parameters ? credentials(as) : { apikey: as.apiKey };

const cardOf = ({ cardNumber, pin }: TestCard) => ({ cardnumber: cardNumber, pin });
const missing = (row: Endpoint) => (row.path === "canceldevalue" ? "cancel_token" : "apikey");
let usedToken: string | undefined;

/** Prepares a used token, and keys that are used, closed or expired. */
beforeAll(async () => {
  const devalued = await call(service.url, "devalue", { ...onCard(company, cards.rich), amount: 77 });
  usedToken = devalued.body.cancel_token;
  await call(service.url, "cancelDevalue", { ...credentials(company), cancel_token: usedToken });
  await call(service.url, "cancelDevalue", credentials(company), {
    headers: { "Idempotency-Key": "contract-never-done" },
  });
  const otherParameters: Record<string, Record<string, unknown>> = {
    devalue: { ...onCard(company, cards.rich), amount: 151 },
    createEvents: { apikey: company.apiKey, events: [eventInput(provider.id, { event_name: "Another" })] },
  };
  for (const name of ["devalue", "createEvents"] as const) {
    await call(service.url, name, otherParameters[name], { headers: reusedKey });
    const { parameters } = await samples[name]();
    await call(service.url, name, parameters, { headers: { "Idempotency-Key": "contract-yesterday" } });
  }
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  // Makes the latest two keys, which were just used, two days old.
  await client.query(`update idempotency_keys set created_at = created_at - interval '2 days'
    where created_at in (select max(created_at) from idempotency_keys where parameters_hash is not null group by operation)`);
  await client.end();
});

for (const name of Object.keys(endpoints) as EndpointName[]) {
  const row: Endpoint = endpoints[name];
  const encodings: Encoding[] = row.encoding === null ? ["json"] : row.formAllowed ? ["json", "form"] : ["json"];

  describe(row.path, () => {
    for (const encoding of encodings) {
      test(`answers a valid call (${row.encoding === null ? "no body" : encoding}), with and without the trailing slash`, async () => {
        const stem = row.path.replace(/\/$/, "");
        for (const path of [stem, `${stem}/`]) {
          const { parameters, headers = {} } = await samples[name]();
          const answer = await call(service.url, name, parameters, { encoding, headers, path });
          expect(answer.status, answer.text).toBe(200);
          expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
          expect(answer.headers.get("content-type")).toBe("application/json");
          z.decode(row.response, answer.body);
          const shape = shapes[name];
          if (!Array.isArray(shape)) expect(typesOf(answer.body)).toEqual(shape);
          for (const item of Array.isArray(answer.body) ? answer.body : []) {
            expect(typesOf(item)).toEqual((shape as unknown[])[0]);
          }
        }
      });
    }

    for (const code of row.errors.filter((listed) => !notProvoked.includes(listed))) {
      const { status, message, cardStatus, resultCode } = errorDefinition(code);
      for (const encoding of code === "unreadable_body" ? (["json"] as const) : encodings) {
        test(`refuses with ${status} ${code} (${encoding})`, async () => {
          const provoke = provocations[code];
          if (!provoke) throw new Error(`no way to provoke ${code}`);
          const { change = (same) => same, call: how = {}, at = () => service } = provoke(row);
          const { parameters, headers = {} } = await samples[name]();
          const wire = { encoding, ...how, headers: { ...headers, ...how.headers } };
          const answer = await call(at().url, name, change(parameters), wire);
          const expected: Record<string, unknown> = { error: message };
          if (row.refusal === "flagged") expected.success = false;
          if (cardStatus) expected.card_status = cardStatus;
          if (resultCode && name === "balance") Object.assign(expected, { result_code: resultCode, message });
          if (code === "invalid_request") {
            if (row.required) expected.required = row.required;
            else expected.errors = [{ path: missing(row), message: expect.any(String) }];
          }
          expect(answer.body).toEqual(expected);
          expect(answer.status).toBe(status);
          expect(answer.headers.get("x-request-id")).toBeTruthy();
          const retryAfter = answer.headers.get("retry-after");
          if ([429, 503].includes(status)) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
          else expect(retryAfter).toBeNull();
        });
      }
    }

    test("refuses another method, and names the allowed one", async () => {
      const answer = await call(service.url, name, {}, { method: row.method === "GET" ? "POST" : "PUT", raw: "" });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe(row.method === "GET" ? "GET, HEAD" : "POST");
      const flag = row.refusal === "flagged" ? { success: false } : {};
      expect(answer.body).toEqual({ ...flag, error: errorDefinition("method_not_allowed").message });
    });
  });
}

test("every listed error is provoked here, or declared as unused", () => {
  const listed = new Set(Object.values(endpoints).flatMap((row): readonly ErrorCode[] => row.errors));
  expect([...listed].filter((code) => !(code in provocations) && !notProvoked.includes(code))).toEqual([]);
});

test("an unknown path gets 404 in JSON", async () => {
  const answer = await call(service.url, "balance", {}, { path: "balances" });
  expect([answer.status, answer.body]).toEqual([404, { error: errorDefinition("not_found").message }]);
});

test("a key of one company with the id of another is refused", async () => {
  const answer = await call(service.url, "balance", {
    ...onCard(company, cards.rich),
    company_id: other.companyId,
  });
  expect(answer.status).toBe(401);
});
