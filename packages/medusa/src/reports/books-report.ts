import type { Days } from "@giftcard-pay/checkout/operator";
import { layOut } from "@giftcard-pay/checkout/plugin";
import { formatCents } from "@giftcard-pay/client";
import type { DatevSettings } from "../datev-settings.js";
import { type BooksTotals, openBookkeeping } from "./bookkeeping.js";
import { checkText } from "./bookkeeping-csv.js";
import { bookingsOf, type DatevObstacle, whyNoDatev } from "./datev.js";
import { movementKinds } from "./order-movements.js";
import type { BookedSource } from "./read-movements.js";

/** The totals of an export for the books, and whether it can be made as a DATEV file. */
export interface BooksReport extends BooksTotals {
  /** Why no DATEV file can be made; null if it can. */
  readonly datev: DatevObstacle | null;
}

/**
 * Reads the totals of an export for the books.
 * @param onProgress called with the number of orders that were read, and of all orders
 * @throws {RangeError} for invalid days
 */
export async function readBooks(
  source: BookedSource,
  days: Days,
  settings: DatevSettings | undefined,
  onProgress?: (read: number, all: number) => void,
): Promise<BooksReport> {
  const bookkeeping = await openBookkeeping(source, days, onProgress);
  let bookings = 0;
  for await (const movement of bookkeeping.movements()) if (settings) bookings += bookingsOf(movement, settings).length;
  return { ...(await bookkeeping.totals()), datev: whyNoDatev(bookkeeping, settings, bookings) };
}

const euro = (cents: number): string => formatCents(cents as never);

/** Formats the totals as tables to print, with amounts in euro, and the checks last. */
export function booksText(totals: BooksTotals): string {
  const { byKind, byRate, byMethod, receivableCents, checks, otherCurrencies, until } = totals;
  const kinds = [
    ["movement", "count", "gross"],
    ...movementKinds.map((kind) => [kind, String(byKind[kind].count), euro(byKind[kind].grossCents)]),
  ];
  const rates = [
    ["VAT", "gross", "net", "VAT amount"],
    ...byRate.map(({ ratePercent, grossCents, netCents, vatCents }) => [
      `${ratePercent}%`,
      ...[grossCents, netCents, vatCents].map(euro),
    ]),
  ];
  const methods = [
    ["paid by", "paid", "returned", "total"],
    ...byMethod.map(({ method, paidCents, repaidCents, netCents }) => [
      method,
      ...[paidCents, repaidCents, netCents].map(euro),
    ]),
    ["not paid yet", "", "", euro(receivableCents)],
  ];
  const tables = [kinds, rates, methods].map((rows) => layOut(rows, [1, 2, 3]));
  const others = otherCurrencies > 0 ? [`orders in other currencies, left out: ${otherCurrencies}\n`] : [];
  const end = until === null ? [] : [`until ${until}: what is younger may still be in progress\n`];
  return [...tables, [...checks.map((check) => `${checkText(check)}\n`), ...others, ...end].join("")].join("\n");
}
