import { daysOfMonth, statementCsv } from "@giftcard-pay/checkout";
import { readMedusaStatement } from "../../../../reports/journal-reports.js";
import { adminRoute, readText } from "../admin-route.js";

/** The statement of a month: `?month=yyyy-mm&commission=percent`, with its CSV beside it. */
export const GET = adminRoute(async ({ reports, req }) => {
  const commission = readText(req, "commission");
  const statement = await readMedusaStatement(reports, {
    ...daysOfMonth(readText(req, "month") ?? ""),
    ...(commission !== undefined && { commissionPercent: Number(commission) }),
  });
  const csv = statementCsv(statement, (orderId) => statement.orderNames[orderId] ?? orderId);
  return { environment: reports.environment, statement, csv };
});
