import { type EndpointName, endpoints } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Queryable } from "../database/database.js";
import { limitNames } from "../limits/limits.js";
import { listStorage } from "../store/company-storage.js";
import type { CallObserver } from "./log.js";

/** In seconds, around the duration of one commit. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const nameOnWire = (operation: EndpointName) => endpoints[operation].path.replace(/\/$/, "");

/**
 * Creates the metrics of a process and its database. No label comes from a caller.
 *
 * @param pool the pool whose connections are counted
 * @param probe a connection for metrics of the database, which must answer while the pool is busy
 */
export function createMetrics(
  pool: pg.Pool,
  probe: Queryable,
  environment: string,
): { registry: Registry; observer: CallObserver } {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const calls = new Counter({
    name: "giftcard_calls_total",
    help: "Calls answered, by operation and outcome",
    labelNames: ["operation", "outcome"] as const,
    registers,
  });
  const durations = new Histogram({
    name: "giftcard_call_duration_seconds",
    help: "Time from a call's headers to its answer",
    labelNames: ["operation"] as const,
    buckets: BUCKETS,
    registers,
  });
  const money = new Counter({
    name: "giftcard_money_cents_total",
    help: "Cents deducted by devalue, and put back by canceldevalue",
    labelNames: ["operation"] as const,
    registers,
  });
  const limited = new Counter({
    name: "giftcard_limited_total",
    help: "Calls that a limit refused, by limit. Locked card numbers have an outcome of their own",
    labelNames: ["limit"] as const,
    registers,
  });
  // A counter that begins with 1 has no increase, so a rule would miss what happened before the first scrape that shows it.
  for (const limit of limitNames) limited.inc({ limit }, 0);
  for (const [name, { errors }] of Object.entries(endpoints)) {
    const operation = nameOnWire(name as EndpointName);
    for (const outcome of ["done", ...errors]) calls.inc({ operation, outcome }, 0);
    durations.zero({ operation });
  }
  for (const name of ["devalue", "cancelDevalue"] as const) money.inc({ operation: nameOnWire(name) }, 0);
  const inFlight = new Gauge({ name: "giftcard_calls_in_flight", help: "Calls that are not answered yet", registers });
  registerPool(pool, registers);
  registerDatabase(probe, registers);
  new Gauge({
    name: "giftcard_processes",
    help: "Processes that serve",
    labelNames: ["environment"] as const,
    registers,
  }).set({ environment }, 1);

  const observer: CallObserver = {
    begin: () => inFlight.inc(),
    end({ operation, outcome, limit, movedCents, durationMs }) {
      if (limit) limited.inc({ limit });
      const label = operation ? nameOnWire(operation) : "none";
      calls.inc({ operation: label, outcome });
      if (!operation) return;
      inFlight.dec();
      durations.observe({ operation: label }, durationMs / 1000);
      if (movedCents > 0) money.inc({ operation: label }, movedCents);
    },
  };
  return { registry, observer };
}

function registerPool(pool: pg.Pool, registers: Registry[]): void {
  const connections = new Gauge({
    name: "giftcard_database_connections",
    help: "Connections of the pool, by state",
    labelNames: ["state"] as const,
    registers,
    collect() {
      connections.set({ state: "idle" }, pool.idleCount);
      connections.set({ state: "busy" }, pool.totalCount - pool.idleCount);
    },
  });
  const waiting = new Gauge({
    name: "giftcard_database_waiting",
    help: "Statements that wait for a connection",
    registers,
    collect() {
      waiting.set(pool.waitingCount);
    },
  });
}

/** Registers metrics of the database. Without an answer they are absent, instead of outdated. */
function registerDatabase(probe: Queryable, registers: Registry[]): void {
  const gauge = (name: string, help: string, labelNames: string[], set: (gauge: Gauge) => Promise<void>) => {
    const made = new Gauge({
      name,
      help: `${help}; absent while the database does not answer`,
      labelNames,
      registers,
      // All processes report the same value.
      aggregator: "max",
      async collect() {
        made.reset();
        if (labelNames.length === 0) made.remove();
        await set(made).catch(() => {});
      },
    });
  };
  const read = async (made: Gauge, text: string) => {
    const { rows } = await probe.query<{ value: number }>(text);
    made.set(rows[0]?.value ?? 0);
  };
  gauge("giftcard_database_lock_waits", "Sessions of this database that wait for a lock", [], (made) =>
    read(
      made,
      "select count(*)::int as value from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    ),
  );
  gauge("giftcard_database_bytes", "Size of the database", [], (made) =>
    read(made, "select pg_database_size(current_database()) as value"),
  );
  gauge("giftcard_company_event_bytes", "Size of each company's events", ["company"], async (made) => {
    for (const { companyId, eventBytes } of await listStorage(probe)) made.set({ company: companyId }, eventBytes);
  });
}
