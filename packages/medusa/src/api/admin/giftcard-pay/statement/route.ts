import { daysOfMonth, statementCsv } from "@giftcard-pay/checkout/operator";
import { readMedusaStatement } from "../../../../reports/journal-reports.js";
import { adminRoute, readText } from "../admin-route.js";

/** Reads the statement of a month, also as CSV: `?month=yyyy-mm`. */
export const GET = adminRoute(async ({ reports, req }) => {
  const statement = await readMedusaStatement(reports, daysOfMonth(readText(req, "month") ?? ""));
  const csv = statementCsv(statement, (orderId) => statement.orderNames[orderId] ?? orderId);
  return { environment: reports.environment, statement, csv };
});
