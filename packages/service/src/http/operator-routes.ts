import { openApiDocument } from "@giftcard-pay/client/contract";
import type { Readiness } from "../database/readiness.js";
import type { Log } from "../monitoring/log.js";
import { version } from "../version.js";
import { JSON_TYPE, jsonAnswer, textAnswer } from "./answer.js";
import { Routes } from "./routes.js";
import { listen, type RunningServer } from "./server.js";

export interface OperatorView {
  readonly environment: string;
  readonly readiness: () => Promise<Readiness>;
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Adds the routes for health, readiness and the OpenAPI document. */
export function operatorRoutes(routes: Routes, { environment, readiness }: OperatorView): void {
  routes.add("GET", "/healthz", () => jsonAnswer(200, { status: "ok", environment, version }));
  routes.add("GET", "/readyz", async () => {
    const { missing, newerMigrations } = await readiness();
    if (missing) return jsonAnswer(503, { status: missing, environment, version });
    const newer = newerMigrations.length > 0 && { newer_migrations: newerMigrations };
    return jsonAnswer(200, { status: "ready", environment, version, ...newer });
  });
  const document = Buffer.from(JSON.stringify(openApiDocument({ version })));
  routes.add("GET", "/openapi.json", () => textAnswer(200, JSON_TYPE, document));
}

/**
 * Serves only /metrics, on a port of its own, since the metrics show what a shop takes. Without a port, does nothing.
 *
 * @param metrics returns the metrics in Prometheus's text format
 * @throws {OperatorError} if the address cannot be listened on
 */
export async function listenForMetrics(
  metrics: () => Promise<string>,
  { host, port, log }: { host: string; port: number | undefined; log: Log },
): Promise<RunningServer | undefined> {
  if (port === undefined) return undefined;
  const routes = new Routes();
  routes.add("GET", "/metrics", async () => textAnswer(200, METRICS_TYPE, await metrics()));
  return listen(routes.listener(log), { host, port });
}
