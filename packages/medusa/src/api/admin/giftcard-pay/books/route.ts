import { readBooks } from "../../../../reports/books-report.js";
import { adminRoute, readDays } from "../admin-route.js";

/** Reads the totals of an export for the books: `?month=yyyy-mm`, or `?from=&to=`. */
export const GET = adminRoute(async ({ giftcard, reports, req }) => {
  const books = await readBooks(reports, readDays(req), giftcard.settings.datev);
  return { environment: reports.environment, books };
});
