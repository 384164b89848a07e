import type { RequestListener } from "node:http";
import {
  BASE_PATH,
  ENVIRONMENT_HEADER,
  type Endpoint,
  type EndpointName,
  endpoints,
} from "@giftcard-pay/client/contract";
import type pg from "pg";
import { retrying } from "./database/database.js";
import { askReadiness, openProbe } from "./database/readiness.js";
import { cardHandlers } from "./handlers/cards.js";
import { eventHandlers } from "./handlers/events.js";
import { sessionHandlers } from "./handlers/session.js";
import { answerRefusal } from "./http/answer.js";
import { CallContext } from "./http/call-context.js";
import { type CallOptions, Calls } from "./http/calls.js";
import { listenForMetrics, type OperatorView, operatorRoutes } from "./http/operator-routes.js";
import { Routes } from "./http/routes.js";
import { listen, type RunningServer } from "./http/server.js";
import { CallLimit } from "./limits/call-limit.js";
import { defaultLimits, type Limits, type Timeouts } from "./limits/limits.js";
import type { Log } from "./monitoring/log.js";
import { createMetrics } from "./monitoring/metrics.js";
import type { Keyring } from "./secrets/keyring.js";
import { claimEnvironment, type Environment } from "./store/environment.js";
import { KeyHolders } from "./store/key-holders.js";
import { KeyUses } from "./store/key-uses.js";
import { regularly, sweepRegularly } from "./store/sweep.js";

const KEY_USES_MS = 20_000;

/** Options of a service. */
export interface ServiceOptions {
  /** The caller's pool. Closing the service does not end it. */
  readonly pool: pg.Pool;
  readonly keys: Keyring;
  readonly environment: Environment;
  readonly host: string;
  /** 0 chooses a free one. */
  readonly port: number;
  readonly log: Log;
  readonly limits?: Limits | undefined;
  readonly timeouts?: Timeouts | undefined;
  /** A port for /metrics; 0 chooses a free one. Without it, metrics are not served. */
  readonly metricsPort?: number | undefined;
  /** The host of the metrics port. Default: 127.0.0.1, since the metrics show what a shop takes. */
  readonly metricsHost?: string | undefined;
}

/** A running service. */
export interface RunningService extends RunningServer {
  readonly metricsUrl: string | undefined;
  /** Makes /readyz report the coming end. Calls are still answered. */
  announceEnd(): void;
}

/**
 * Starts the HTTP service on a migrated database.
 *
 * @throws {OperatorError} if the database belongs to the other environment, or the address cannot be listened on
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { pool, keys, environment, log, limits = defaultLimits, metricsPort, metricsHost = "127.0.0.1" } = options;
  const db = retrying(pool);
  await claimEnvironment(db, environment);
  const probe = openProbe(pool);
  const { registry, observer } = createMetrics(pool, probe, environment);
  let isEnding = false;
  const ask = askReadiness(probe);
  const readiness = async () => (isEnding ? { missing: "ending", newerMigrations: [] } : ask());
  const keyUses = new KeyUses(pool);
  const app = createApp({
    handlers: {
      ...sessionHandlers(db, keys, limits),
      ...cardHandlers(db, keys, limits),
      ...eventHandlers(pool, keys, limits.storage),
    },
    keyHolders: new KeyHolders(pool),
    keyLimit: new CallLimit(db, "key", limits.callsPerMinute),
    companyLimit: new CallLimit(db, "company", limits.companyCallsPerMinute),
    callsAtOnce: limits.callsAtOnce,
    proxies: limits.proxies,
    operatorView: { environment, readiness },
    observer: {
      begin: observer.begin,
      end(call) {
        observer.end(call);
        log.call(call);
        if (call.keyId !== undefined) keyUses.note(call.keyId);
      },
    },
    log,
  });
  const onFailure = (error: unknown) => log.failure({ error });
  const stopSweeping = sweepRegularly(pool, onFailure);
  const stopWriting = regularly(() => keyUses.write(), KEY_USES_MS, onFailure);
  const closing: ((idleMs?: number) => Promise<void>)[] = [stopSweeping, stopWriting, () => probe.end()];
  try {
    const server = await listen(app, { ...options, connections: limits.connections });
    closing.unshift((idleMs) => server.close(idleMs));
    const metricsOptions = { host: metricsHost, port: metricsPort, log };
    const metricsServer = await listenForMetrics(() => registry.metrics(), metricsOptions);
    closing.push(async () => metricsServer?.close());
    return {
      url: server.url,
      metricsUrl: metricsServer?.url,
      announceEnd: () => void (isEnding = true),
      stopListening: () => server.stopListening(),
      async close(idleMs) {
        isEnding = true;
        for (const close of closing) await close(idleMs);
      },
    };
  } catch (error) {
    for (const close of closing) await close();
    throw error;
  }
}

/** Creates the listener for all operations and the operators' routes. */
function createApp(options: CallOptions & { readonly operatorView: OperatorView }): RequestListener {
  const routes = new Routes();
  const calls = new Calls(options);
  for (const operation of Object.keys(endpoints) as EndpointName[]) {
    const row: Endpoint = endpoints[operation];
    const bare = BASE_PATH + row.path.replace(/\/$/, "");
    for (const path of [bare, `${bare}/`]) {
      routes.add(row.method, path, (exchange) => calls.answer(new CallContext(exchange, operation)));
      routes.add("*", path, () => answerRefusal(row, "method_not_allowed"));
    }
  }
  operatorRoutes(routes, options.operatorView);
  return routes.listener(options.log, { [ENVIRONMENT_HEADER]: options.operatorView.environment });
}
