import { openApiDocument } from "@giftcard-pay/client/contract";
import { type Env, Hono } from "hono";
import type { Readiness } from "../readiness.js";
import { docsRoutes } from "./docs-page.js";
import { listen, type RunningServer } from "./server.js";

/** What an operator and his tools ask of a process. */
export interface OperatorView {
  readonly environment: string;
  readonly version: string;
  readonly readiness: () => Promise<Readiness>;
  /** In Prometheus' text format. Left out where metrics have a port of their own. */
  readonly metrics?: () => Promise<string>;
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Health, readiness, metrics and the interface's description. */
export function operatorRoutes<E extends Env>(app: Hono<E>, view: OperatorView): void {
  const { environment, version, readiness, metrics } = view;
  app.get("/healthz", (c) => c.json({ status: "ok", environment, version }));
  app.get("/readyz", async (c) => {
    const { missing, newerMigrations } = await readiness();
    if (missing) return c.json({ status: missing, environment, version }, 503);
    const newer = newerMigrations.length > 0 && { newer_migrations: newerMigrations };
    return c.json({ status: "ready", environment, version, ...newer });
  });
  if (metrics) metricsRoute(app, metrics);
  const document = openApiDocument({ version });
  const text = JSON.stringify(document);
  app.get("/openapi.json", (c) => c.body(text, 200, { "Content-Type": "application/json" }));
  docsRoutes(app, document);
}

function metricsRoute<E extends Env>(app: Hono<E>, metrics: () => Promise<string>): void {
  app.get("/metrics", async (c) => c.body(await metrics(), 200, { "Content-Type": METRICS_TYPE }));
}

/**
 * Serves /metrics, and nothing else, on a port of its own.
 *
 * @throws {OperatorError} when the address cannot be listened on
 */
export function listenForMetrics(
  metrics: () => Promise<string>,
  host: string,
  port: number,
): Promise<RunningServer> {
  const app = new Hono();
  metricsRoute(app, metrics);
  return listen(app.fetch, { host, port });
}
