import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DatabaseProxy, startDatabaseProxy } from "../../../test/support/database-proxy.js";
import {
  type FoundAlert,
  hasPrometheus,
  type Prometheus,
  promtool,
  startPrometheus,
} from "../../../test/support/prometheus.js";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call, credentials, eventInput, onCard } from "./wire.js";

const RULES_FILE = path.resolve(import.meta.dirname, "../../../docs/monitoring/alerts.yml");
const rulesText = fs.readFileSync(RULES_FILE, "utf8");
/** Severity and summary of each rule. */
const rules = new Map(
  rulesText
    .split("- alert: ")
    .slice(1)
    .map((rule) => {
      const [, severity = ""] = /severity: (\w+)/.exec(rule) ?? [];
      const [, summary = ""] = /summary: "?(.*?)"?$/m.exec(rule) ?? [];
      return [rule.split("\n", 1)[0] as string, { severity, summary }];
    }),
);
const summaryOf = (alert: string, labels: Readonly<Record<string, string>>) =>
  rules.get(alert)?.summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => String(labels[name]));

let service: TestService;
let company: TestCompany;
let card: TestCard;
let db: pg.Client;
let proxy: DatabaseProxy;
let prometheus: Prometheus;
let firstMetrics: string;
const PINS_PER_COMPANY = 150;
const CLOSED_KEYS = 3;
const GUESSES_THAT_LOCK = 10;

const metricsTarget = () => /"metrics_url":"http:\/\/([^"]+)"/.exec(service.logs())?.[1] as string;

/** The series of the service's first scrape, after a company has an event. */
const series = () =>
  [...firstMetrics.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)].map(([, name, value]) => [String(name), Number(value)]);

describe.skipIf(!hasPrometheus())("the alert rules (skipped if `prometheus` and `promtool` are not installed)", () => {
  beforeAll(async () => {
    const databaseUrl = await testDatabase();
    proxy = await startDatabaseProxy(databaseUrl);
    const limits = { companyPins: { failures: PINS_PER_COMPANY }, storage: { closedKeys: CLOSED_KEYS } };
    service = await startGiftcardService({ databaseUrl: proxy.url, limits });
    db = new pg.Client({ connectionString: databaseUrl });
    await db.connect();
    company = await service.createCompany();
    card = await service.issueCard({ balanceCents: 100_000 });
    const { id } = await service.createProvider();
    await call(service.url, "createEvents", { apikey: company.apiKey, events: [eventInput(id)] });
    firstMetrics = await service.metrics();
  });
  afterAll(async () => {
    await prometheus?.stop();
    await db?.end();
    await service?.kill();
    await proxy?.stop();
  });

  test("are valid for Prometheus", () => {
    expect(promtool("check", "rules", RULES_FILE)).toContain(`SUCCESS: ${rules.size} rules found`);
  });

  const INSTANCE = "cards.internal:9464";
  const HOST = { instance: INSTANCE, job: "giftcard" };
  const operation = (name: string) => `operation="${name}"`;
  const calls = (name: string, outcome: string) => `giftcard_calls_total{${operation(name)},outcome="${outcome}"}`;
  const devalues = (le: string) => `giftcard_call_duration_seconds_bucket{le="${le}",${operation("devalue")}}`;
  const storedBy = () => `giftcard_company_event_bytes{company="${company.companyId}"}`;

  /** A fault by its series, in promtool's notation by minute; the minutes in which the rule is quiet and in which it fires. */
  interface Fault {
    readonly series: () => Record<string, string>;
    readonly quietAt?: number;
    readonly firesAt: number;
    readonly labels?: () => Record<string, string>;
  }
  const FAULTS: Record<string, Fault> = {
    GiftcardDown: { series: () => ({ up: "0+0x10" }), quietAt: 0, firesAt: 2, labels: () => HOST },
    GiftcardDatabaseUnreachable: {
      series: () => ({ giftcard_database_lock_waits: "_x10" }),
      quietAt: 0,
      firesAt: 2,
      labels: () => HOST,
    },
    GiftcardInternalErrors: {
      series: () => ({ [calls("devalue", "internal")]: "0 0 1+0x10" }),
      quietAt: 1,
      firesAt: 2,
      labels: () => ({ operation: "devalue" }),
    },
    GiftcardWaitsForConnections: {
      series: () => ({ giftcard_database_waiting: "1+0x10" }),
      quietAt: 0,
      firesAt: 2,
      labels: () => HOST,
    },
    GiftcardTurnsCallsAway: {
      series: () => ({ [calls("balance", "overloaded")]: "0+1x20" }),
      quietAt: 4,
      firesAt: 8,
      labels: () => ({ instance: INSTANCE }),
    },
    // Two of a hundred calls take longer than a second.
    GiftcardDevalueSlow: {
      series: () => ({ [devalues("1")]: "0+98x20", [devalues("2.5")]: "0+100x20", [devalues("+Inf")]: "0+100x20" }),
      quietAt: 9,
      firesAt: 13,
    },
    GiftcardLockWaits: { series: () => ({ giftcard_database_lock_waits: "11+0x10" }), quietAt: 4, firesAt: 6 },
    GiftcardCardsGuessed: {
      series: () => ({ 'giftcard_limited_total{limit="company_pins"}': "0 0 1+0x10" }),
      quietAt: 1,
      firesAt: 2,
    },
    // More than 20 %, but for too short a time at first.
    GiftcardPinsWrong: {
      series: () => ({ [calls("balance", "invalid_card")]: "0+3x70", [calls("balance", "done")]: "0+9x70" }),
      quietAt: 20,
      firesAt: 62,
    },
    GiftcardCardsLocked: {
      series: () => ({ [calls("devalue", "card_locked")]: "0+1x70" }),
      quietAt: 45,
      firesAt: 62,
    },
    GiftcardKeysGuessed: {
      series: () => ({ 'giftcard_limited_total{limit="closed_keys"}': "0 0 1+0x10" }),
      quietAt: 1,
      firesAt: 2,
    },
    GiftcardCompanyStoresMuch: {
      series: () => ({ [storedBy()]: "160000000+0x20" }),
      quietAt: 9,
      firesAt: 11,
      labels: () => ({ company: String(company.companyId) }),
    },
    // 5.76 GB a day.
    GiftcardDatabaseGrows: { series: () => ({ giftcard_database_bytes: "0+4e6x40" }), quietAt: 25, firesAt: 35 },
    GiftcardLoginsGuessed: {
      series: () => ({ 'giftcard_limited_total{limit="logins"}': "0 0 1+0x10" }),
      quietAt: 1,
      firesAt: 2,
    },
    GiftcardEventLoopBusy: {
      series: () => ({ nodejs_eventloop_lag_p99_seconds: "0.3+0x20" }),
      quietAt: 9,
      firesAt: 11,
      labels: () => HOST,
    },
  };

  /** Runs promtool's tests with the series of the first scrape, some of which change. */
  function testRules(changed: Record<string, string>, minutes: number, tests: object) {
    const shown = new Map<string, string>([["up", `1+0x${minutes}`]]);
    for (const [name, value] of series()) shown.set(String(name), `${Number.isFinite(value) ? value : 0}+0x${minutes}`);
    for (const [name, values] of Object.entries(changed)) {
      // The service has the series from the first scrape on, so nothing that happens is missed.
      expect([...shown.keys()]).toContain(name);
      shown.set(name, values);
    }
    const withHost = (name: string) => {
      const host = `instance="${INSTANCE}",job="giftcard"`;
      return name.includes("{") ? name.replace("{", `{${host},`) : `${name}{${host}}`;
    };
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-rules-"));
    const file = path.join(folder, "tests.yml");
    const input = [...shown].map(([name, values]) => ({ series: withHost(name), values }));
    const group = { interval: "1m", input_series: input, ...tests };
    fs.writeFileSync(file, JSON.stringify({ rule_files: [RULES_FILE], evaluation_interval: "1m", tests: [group] }));
    try {
      return promtool("test", "rules", file);
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  }
  const FIRING = 'ALERTS{alertstate="firing"}';
  const nothingAt = (minutes: number) => ({ expr: FIRING, eval_time: `${minutes}m`, exp_samples: [] });

  test("each have a fault here", () => {
    expect(Object.keys(FAULTS).sort()).toEqual([...rules.keys()].sort());
  });

  test("are quiet if nothing is wrong", () => {
    const minutes = [0, 1, 10, 60, 90];
    expect(testRules({}, 90, { promql_expr_test: minutes.map(nothingAt) })).toContain("SUCCESS");
  });

  test.each(Object.entries(FAULTS))("%s fires by the series of the service, and alone", (alert, fault) => {
    const labels = { ...fault.labels?.(), severity: String(rules.get(alert)?.severity) };
    const expected = { exp_labels: labels, exp_annotations: { summary: summaryOf(alert, labels) } };
    const output = testRules(fault.series(), fault.firesAt, {
      alert_rule_test: [{ eval_time: `${fault.firesAt}m`, alertname: alert, exp_alerts: [expected] }],
      promql_expr_test: [
        ...(fault.quietAt === undefined ? [] : [nothingAt(fault.quietAt)]),
        {
          expr: `count by (alertname) (${FIRING})`,
          eval_time: `${fault.firesAt}m`,
          exp_samples: [{ labels: `{alertname="${alert}"}`, value: 1 }],
        },
      ],
    });
    expect(output).toContain("SUCCESS");
  });

  describe("in a real Prometheus that scrapes the service, each with its fault", () => {
    const wrong = (cardNumber: string, of = company) =>
      call(service.url, "balance", { ...credentials(of), cardnumber: cardNumber, pin: "wrong" });
    const devalue = () => call(service.url, "devalue", { ...onCard(company, card), amount: 1 });
    /** Reads a day's growth from the few seconds of this test, so it may fire early. */
    const EXTRAPOLATES = "GiftcardDatabaseGrows";
    /** Repeats a call one after another. */
    const repeat = async (times: number, work: (index: number) => Promise<unknown>) => {
      for (let index = 0; index < times; index++) await work(index);
    };
    /** Prepares a fault, and returns a function that ends it. */
    type Trouble = () => Promise<() => unknown>;
    const nothing = () => {};

    beforeAll(async () => {
      const shortened = rulesText.replaceAll(/^( +for:) \d+m$/gm, "$1 1s");
      expect(shortened.match(/for: 1s/g)?.length).toBe(rulesText.match(/for: /g)?.length);
      prometheus = await startPrometheus(shortened, metricsTarget());
    });

    const alertsNamed = async (alert: string) =>
      (await prometheus.alerts()).filter(({ labels }) => labels.alertname === alert);
    const stateOf = async (alert: string) => (await alertsNamed(alert)).map(({ state }) => state);

    const TROUBLES: Record<string, Trouble> = {
      async GiftcardInternalErrors() {
        await db.query("alter table events rename to events_elsewhere");
        expect((await call(service.url, "listEvents", { apikey: company.apiKey })).status).toBe(500);
        return () => db.query("alter table events_elsewhere rename to events");
      },
      async GiftcardPinsWrong() {
        await repeat(110, (index) => wrong(`606435000000000${1000 + index}`));
        return nothing;
      },
      async GiftcardCardsLocked() {
        const other = await service.createCompany();
        const locked = await service.issueCard({ balanceCents: 100 });
        await repeat(GUESSES_THAT_LOCK, () => wrong(locked.cardNumber, other));
        await repeat(60, async () => expect((await wrong(locked.cardNumber, other)).status).toBe(429));
        return nothing;
      },
      async GiftcardCardsGuessed() {
        const other = await service.createCompany();
        await repeat(PINS_PER_COMPANY + 10, (index) => wrong(`606435000000000${2000 + index}`, other));
        return nothing;
      },
      async GiftcardKeysGuessed() {
        const guess = (index: number) =>
          call(service.url, "cancelDevalue", credentials(company), {
            headers: { "Idempotency-Key": `order-${1000 + index}` },
          });
        await repeat(CLOSED_KEYS + 1, guess);
        return nothing;
      },
      async GiftcardLoginsGuessed() {
        const login = () => call(service.url, "authenticate", {}, { headers: basic(company.email, "wrong") });
        await repeat(11, login);
        return nothing;
      },
      async GiftcardTurnsCallsAway() {
        // The disk is full.
        await db.query(`create function no_space() returns trigger language plpgsql as $$
          begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$;
          create trigger full_disk before insert on ledger for each row execute function no_space()`);
        expect((await devalue()).status).toBe(503);
        return () => db.query("drop trigger full_disk on ledger");
      },
      async GiftcardDatabaseGrows() {
        await db.query("create table noise (bytes bytea)");
        let isGrowing = true;
        const grow = async () => {
          while (isGrowing)
            await db.query(
              "insert into noise select string_agg(sha512(random()::text::bytea), '') from generate_series(1, 4000)",
            );
        };
        const growth = grow();
        return async () => {
          isGrowing = false;
          await growth;
        };
      },
      async GiftcardCompanyStoresMuch() {
        await db.query("update events set introduction_text = repeat('x', 160000000) where company_id = $1", [
          company.companyId,
        ]);
        return () => db.query("update events set introduction_text = '' where company_id = $1", [company.companyId]);
      },
      async GiftcardDevalueSlow() {
        await db.query("begin; lock table cards in access exclusive mode");
        const answer = devalue();
        await new Promise((resolve) => setTimeout(resolve, 1500));
        await db.query("rollback");
        expect((await answer).status).toBe(200);
        return nothing;
      },
      async GiftcardLockWaits() {
        const { id } = await service.createProvider();
        await db.query("begin; lock table event_concepts in access exclusive mode");
        // More calls than the service has connections: the first ones wait for the lock, and the others for them.
        const concept = { apikey: company.apiKey, representative: "Zaal", register: "Nacht", eventprovider_id: id };
        const calls = Array.from({ length: 150 }, () => call(service.url, "createEventConcept", concept));
        return async () => {
          await db.query("rollback");
          await Promise.all(calls);
        };
      },
      async GiftcardDatabaseUnreachable() {
        proxy.set({ pattern: /./, fault: "refuse", times: Number.POSITIVE_INFINITY });
        return () => proxy.clear();
      },
      async GiftcardEventLoopBusy() {
        const stop = () => {
          process.kill(service.pid, "SIGSTOP");
          setTimeout(() => process.kill(service.pid, "SIGCONT"), 300);
        };
        const stopping = setInterval(stop, 450);
        return async () => {
          clearInterval(stopping);
          await new Promise((resolve) => setTimeout(resolve, 500));
        };
      },
      async GiftcardDown() {
        process.kill(service.pid, "SIGKILL");
        return nothing;
      },
    };
    /** Returns how often an alert had a state in the last minutes. */
    const count = async (alert: string, state: string) =>
      (await prometheus.query(`sum(count_over_time(ALERTS{alertname="${alert}",alertstate="${state}"}[10m]))`))[0] ?? 0;
    /** Alerts without a `for`, and so without a pending state. */
    const isImmediate = (alert: string) =>
      !rulesText.split(`alert: ${alert}\n`)[1]?.split("- alert")[0]?.includes("for:");

    test("nothing fires while nothing is wrong", async () => {
      await expect.poll(() => prometheus.query('up{job="giftcard"}')).toEqual([1]);
      expect((await devalue()).status).toBe(200);
      await expect
        .poll(() => prometheus.query('giftcard_calls_total{operation="devalue",outcome="done"}'))
        .toEqual([1]);
      expect((await prometheus.alerts()).filter(({ labels }) => labels.alertname !== EXTRAPOLATES)).toEqual([]);
    });

    test.each(Object.entries(TROUBLES))("%s", { timeout: 120_000 }, async (alert, begin) => {
      if (alert !== EXTRAPOLATES) expect(await stateOf(alert)).toEqual([]);
      const end = await begin();
      try {
        await expect.poll(() => stateOf(alert)).toContain("firing");
        // The calls that wait for a connection get 503 after five seconds.
        if (alert === "GiftcardLockWaits")
          await expect.poll(() => count("GiftcardWaitsForConnections", "firing")).toBeGreaterThan(0);
        const [found] = (await alertsNamed(alert)) as [FoundAlert];
        expect(found.annotations).toEqual({ summary: summaryOf(alert, found.labels) });
        expect(found.labels.severity).toBe(rules.get(alert)?.severity);
        expect((await count(alert, "pending")) > 0).toBe(!isImmediate(alert));
      } finally {
        await end();
      }
    });
  });
});
