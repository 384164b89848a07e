import type { AuthenticatedMedusaRequest } from "@medusajs/framework/http";
import { readMedusaReconciliation } from "../../../../reports/books.js";
import { adminRoute } from "../desk.js";

interface Body {
  from?: unknown;
  to?: unknown;
  report?: unknown;
}

/** Holds the journal against Medusa's payments: `{ from, to, report? }`, the report as the service printed it. */
export const POST = adminRoute(async ({ books, req }) => {
  const { from, to, report } = ((req as AuthenticatedMedusaRequest<Body>).body ?? {}) as Body;
  const reconciliation = await readMedusaReconciliation(books, {
    from: String(from ?? ""),
    to: String(to ?? ""),
    ...(typeof report === "string" && { report }),
  });
  return { environment: books.environment, reconciliation };
});
