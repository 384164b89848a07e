import { daysOfMonth, statementCsv } from "@giftcard-pay/checkout";
import { readMedusaStatement } from "../../../../reports/books.js";
import { adminRoute, readText } from "../desk.js";

/** The statement of a month: `?month=yyyy-mm&commission=percent`, with its CSV beside it. */
export const GET = adminRoute(async ({ books, req }) => {
  const commission = readText(req, "commission");
  const statement = await readMedusaStatement(books, {
    ...daysOfMonth(readText(req, "month") ?? ""),
    ...(commission !== undefined && { commissionPercent: Number(commission) }),
  });
  const csv = statementCsv(statement, (orderId) => statement.orderNames[orderId] ?? orderId);
  return { environment: books.environment, statement, csv };
});
