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
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Health, readiness and the interface's description. */
export function operatorRoutes<E extends Env>(app: Hono<E>, view: OperatorView): void {
  const { environment, version, readiness } = view;
  app.get("/healthz", (c) => c.json({ status: "ok", environment, version }));
  app.get("/readyz", async (c) => {
    const { missing, newerMigrations } = await readiness();
    if (missing) return c.json({ status: missing, environment, version }, 503);
    const newer = newerMigrations.length > 0 && { newer_migrations: newerMigrations };
    return c.json({ status: "ready", environment, version, ...newer });
  });
  const document = openApiDocument({ version });
  const text = JSON.stringify(document);
  app.get("/openapi.json", (c) => c.body(text, 200, { "Content-Type": "application/json" }));
  docsRoutes(app, document);
}

/**
 * Serves /metrics, and nothing else, on a port of its own: what a shop takes is in them.
 *
 * @param metrics gives them in Prometheus' text format
 * @throws {OperatorError} when the address cannot be listened on
 */
export function listenForMetrics(
  metrics: () => Promise<string>,
  where: { readonly host: string; readonly port: number },
): Promise<RunningServer> {
  const app = new Hono();
  app.get("/metrics", async (c) => c.body(await metrics(), 200, { "Content-Type": METRICS_TYPE }));
  return listen(app.fetch, where);
}
