import type { AuthenticatedMedusaRequest } from "@medusajs/framework/http";
import { readMedusaReconciliation } from "../../../../reports/journal-reports.js";
import { adminRoute } from "../admin-route.js";

interface Body {
  from?: unknown;
  to?: unknown;
  report?: unknown;
}

/** Compares the journal with Medusa's payments: `{ from, to, report? }`, with the report as the service printed it. */
export const POST = adminRoute(async ({ reports, req }) => {
  const { from, to, report } = ((req as AuthenticatedMedusaRequest<Body>).body ?? {}) as Body;
  const reconciliation = await readMedusaReconciliation(reports, {
    from: String(from ?? ""),
    to: String(to ?? ""),
    ...(typeof report === "string" && { report }),
  });
  return { environment: reports.environment, reconciliation };
});
