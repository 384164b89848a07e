import { readMedusaReconciliation } from "../../../../reports/journal-reports.js";
import { adminRoute } from "../admin-route.js";

/** Compares the journal with Medusa's payments: `{ from, to, report? }`, with the report as the service printed it. */
export const POST = adminRoute(async ({ reports, req }) => {
  const { from, to, report } = (req.body ?? {}) as Record<string, unknown>;
  const reconciliation = await readMedusaReconciliation(reports, {
    from: String(from ?? ""),
    to: String(to ?? ""),
    ...(typeof report === "string" && { report }),
  });
  return { environment: reports.environment, reconciliation };
});
