import { openBookkeeping } from "../../../../../reports/bookkeeping.js";
import { writeBooksCsv } from "../../../../../reports/bookkeeping-csv.js";
import { adminFileRoute, readDays } from "../../admin-route.js";

/** Downloads an export for the books as CSV: `?month=yyyy-mm`, or `?from=&to=`. */
export const GET = adminFileRoute(async ({ reports, req }) => {
  const days = readDays(req);
  const content = writeBooksCsv(await openBookkeeping(reports, days));
  return { name: `books-${days.from}-${days.to}.csv`, type: "text/csv; charset=utf-8", content };
});
