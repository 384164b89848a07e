import { daysOfMonth, statementCsv } from "@giftcard-pay/checkout/operator";
import { readMedusaStatement } from "../../../../reports/journal-reports.js";
import { adminRoute, readText } from "../admin-route.js";

/** Reads the statement of a month, also as CSV: `?month=yyyy-mm&commission=percent`. */
export const GET = adminRoute(async ({ reports, req }) => {
  const commission = readText(req, "commission");
  const statement = await readMedusaStatement(reports, {
    ...daysOfMonth(readText(req, "month") ?? ""),
    ...(commission !== undefined && { commissionPercent: Number(commission) }),
  });
  const csv = statementCsv(statement, (orderId) => statement.orderNames[orderId] ?? orderId);
  return { environment: reports.environment, statement, csv };
});
