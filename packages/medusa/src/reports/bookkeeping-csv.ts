import { csvCell } from "@giftcard-pay/checkout/plugin";
import { formatCents } from "@giftcard-pay/client";
import type { Bookkeeping, BooksCheck, BooksTotals } from "./bookkeeping.js";
import type { Movement, VatAmounts } from "./order-movements.js";

const euro = (cents: number): string => formatCents(cents as never);
const line = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;

const NO_AMOUNTS: VatAmounts = { grossCents: 0, netCents: 0, vatCents: 0 };
const amountsOf = ({ grossCents, netCents, vatCents }: VatAmounts) => [grossCents, netCents, vatCents].map(euro);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function addUp(amounts: readonly VatAmounts[]): VatAmounts {
  const of = (key: keyof VatAmounts) => sum(amounts.map((one) => one[key]));
  return { grossCents: of("grossCents"), netCents: of("netCents"), vatCents: of("vatCents") };
}

/**
 * Writes the movements as comma-separated values in UTF-8, with amounts in euro: one line for each movement, then the
 * totals, then the differences to the statement and to Medusa's own totals, if there are any.
 * @param onTotals called with the totals once all lines are written
 */
export async function* writeBooksCsv(
  bookkeeping: Bookkeeping,
  onTotals?: (totals: BooksTotals) => void,
): AsyncGenerator<string> {
  const { rates, providers } = bookkeeping.columns;
  yield line([
    ...["day", "movement", "order", "gross_eur", "net_eur", "vat_eur"],
    ...rates.flatMap((rate) => [`gross_${rate}_eur`, `net_${rate}_eur`, `vat_${rate}_eur`]),
    ...["cards_eur", ...providers.map((provider) => `${provider}_eur`), "paid_eur", "cards"],
  ]);
  for await (const movement of bookkeeping.movements()) yield line(cellsOf(movement, bookkeeping.columns));
  const totals = await bookkeeping.totals();
  yield line(totalCells(totals, bookkeeping.columns));
  for (const check of totals.checks.filter(({ differenceCents }) => differenceCents !== 0))
    yield line(["difference", checkText(check)]);
  onTotals?.(totals);
}

function cellsOf(movement: Movement, { rates, providers }: Bookkeeping["columns"]): string[] {
  const { day, kind, orderId, orderName, byRate, cards, others } = movement;
  const cardCents = sum(cards.map(({ cents }) => cents));
  return [
    ...[day, kind, orderName ?? orderId ?? "", ...amountsOf(addUp([...byRate.values()]))],
    ...rates.flatMap((rate) => amountsOf(byRate.get(rate) ?? NO_AMOUNTS)),
    ...[euro(cardCents), ...providers.map((provider) => euro(others.get(provider) ?? 0))],
    euro(cardCents + sum([...others.values()])),
    cards.map(({ lastFour, cents }) => `${lastFour}: ${euro(cents)}`).join("; "),
  ];
}

function totalCells({ byRate, byMethod }: BooksTotals, { rates, providers }: Bookkeeping["columns"]): string[] {
  const ofRate = (rate: string) => byRate.find(({ ratePercent }) => ratePercent === rate) ?? NO_AMOUNTS;
  const netOf = (name: string) => byMethod.find(({ method }) => method === name)?.netCents ?? 0;
  return [
    ...["total", "", "", ...amountsOf(addUp(byRate))],
    ...rates.flatMap((rate) => amountsOf(ofRate(rate))),
    ...[euro(netOf("card")), ...providers.map((provider) => euro(netOf(provider)))],
    ...[euro(sum(byMethod.map(({ netCents }) => netCents))), ""],
  ];
}

const elsewhere = {
  cards: "the statement",
  sales: "Medusa's order totals",
  payments: "Medusa's captures",
  refunds: "Medusa's refunds",
};

/** Describes a check, for a person. */
export function checkText({ check, method, exportCents, otherCents, differenceCents }: BooksCheck): string {
  const what = method === null ? check : `${check} by ${method}`;
  const same = `${what}: ${euro(exportCents)}, as ${elsewhere[check]}`;
  if (differenceCents === 0) return same;
  return `${what}: the export has ${euro(exportCents)}, ${elsewhere[check]} ${euro(otherCents)}: a difference of ${euro(differenceCents)}`;
}
