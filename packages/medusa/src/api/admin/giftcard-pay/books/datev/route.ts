import { openBookkeeping } from "../../../../../reports/bookkeeping.js";
import { obstacleText, whyNoDatev, writeDatev } from "../../../../../reports/datev.js";
import { adminFileRoute, readDays } from "../../admin-route.js";

/** Downloads an export for the books as a DATEV file: `?month=yyyy-mm`, or `?from=&to=`. */
export const GET = adminFileRoute(async ({ giftcard, reports, req }) => {
  const { datev } = giftcard.settings;
  const days = readDays(req);
  const bookkeeping = await openBookkeeping(reports, days);
  const why = whyNoDatev(bookkeeping, datev);
  if (why !== null) throw new RangeError(obstacleText(why));
  const name = `EXTF_Buchungsstapel_${days.from}_${days.to}.csv`;
  return { name, type: "text/csv; charset=windows-1252", content: writeDatev(bookkeeping, datev) };
});
