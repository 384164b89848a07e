import { ReportError } from "@giftcard-pay/checkout/plugin";
import { readMedusaReconciliation } from "../../../../reports/journal-reports.js";
import { adminRoute } from "../admin-route.js";

/**
 * Compares the journal with Medusa's payments: `{ from, to, report? }`, with the report as the service printed it. If the
 * report can't be read or has other days, nothing is compared, and `reportFault` says why: the admin shows that in its own
 * language, and its client gets no code of a refusal.
 */
export const POST = adminRoute(async ({ reports, req }) => {
  const { from, to, report } = (req.body ?? {}) as Record<string, unknown>;
  const { environment } = reports;
  try {
    const reconciliation = await readMedusaReconciliation(reports, {
      from: String(from ?? ""),
      to: String(to ?? ""),
      ...(typeof report === "string" && { report }),
    });
    return { environment, reconciliation, reportFault: null };
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    return { environment, reconciliation: null, reportFault: error.fault };
  }
});
