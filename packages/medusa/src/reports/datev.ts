import type { Days } from "@giftcard-pay/checkout/operator";
import type { DatevSettings } from "../datev-settings.js";
import type { Bookkeeping, BooksTotals } from "./bookkeeping.js";
import { datevColumns } from "./datev-columns.js";
import type { Movement, MovementKind } from "./order-movements.js";

/** DATEV takes no more bookings in one file. */
const MAX_BOOKINGS = 99_999;

/** The default accounts of each chart. */
const charts = {
  SKR03: {
    revenue: { "19": "8400", "7": "8300", "0": "8200" },
    ...{ receivables: "1410", giftCards: "1500", payments: "1360", number: "03" },
  },
  SKR04: {
    revenue: { "19": "4400", "7": "4300", "0": "4200" },
    ...{ receivables: "1210", giftCards: "1300", payments: "1460", number: "04" },
  },
} as const;

/** The movement's name in the posting text. DATEV's users read German. */
const texts: Record<MovementKind, string> = {
  sale: "Verkauf",
  change: "Änderung",
  refund: "Erstattung",
  cancellation: "Storno",
  payment: "Zahlung",
};

/** One booking: an amount above 0 from one account to another. */
export interface DatevBooking {
  readonly day: string;
  readonly cents: number;
  /** Whether the account is debited (`S`) or credited (`H`). */
  readonly side: "S" | "H";
  readonly account: string;
  readonly offsetAccount: string;
  /** The number of the order; empty without one. */
  readonly order: string;
  readonly text: string;
}

/** Fills accounts up with zeros, as DATEV does if a client's accounts are longer. */
const ofLength = (account: string, { accountLength }: DatevSettings) => account.padEnd(accountLength, "0");

function revenueAccount(rate: string, settings: DatevSettings): string | undefined {
  const byDefault = (charts[settings.chart].revenue as Record<string, string>)[rate];
  return settings.revenue[rate] ?? (byDefault && ofLength(byDefault, settings));
}

/** Why no DATEV file can be made. */
export interface DatevObstacle {
  /**
   * - `not_set`: the option `datev` is not set
   * - `account_length`: some of its accounts have another length
   * - `no_account`: some VAT rates have no revenue account
   * - `two_years`: the days are in two fiscal years
   * - `over_limit`: there are more bookings than a file can have
   */
  readonly code: "not_set" | "account_length" | "no_account" | "two_years" | "over_limit";
  /** The accounts, the rates in percent, or the highest number of bookings. */
  readonly values: readonly string[];
}

const NOT_SET: DatevObstacle = { code: "not_set", values: [] };
const OVER_LIMIT: DatevObstacle = { code: "over_limit", values: [String(MAX_BOOKINGS)] };

/**
 * Returns why no DATEV file can be made of an export; null if it can.
 * @param bookings the number of bookings, if it is known
 */
export function whyNoDatev(
  { days, columns }: Pick<Bookkeeping, "days" | "columns">,
  settings: DatevSettings | undefined,
  bookings = 0,
): DatevObstacle | null {
  if (!settings) return NOT_SET;
  const { accountLength, receivables, giftCards, payments, paymentsByProvider, revenue } = settings;
  const given = [receivables, giftCards, payments, ...Object.values(paymentsByProvider), ...Object.values(revenue)];
  const wrong = given.filter(
    (account) => account && account.length !== accountLength && account.length !== accountLength + 1,
  );
  if (wrong.length > 0) return { code: "account_length", values: wrong as string[] };
  const missing = columns.rates.filter((rate) => revenueAccount(rate, settings) === undefined);
  if (missing.length > 0) return { code: "no_account", values: missing };
  if (fiscalYearOf(days.from, settings) !== fiscalYearOf(days.to, settings)) return { code: "two_years", values: [] };
  if (bookings > MAX_BOOKINGS) return OVER_LIMIT;
  return null;
}

/** Describes an obstacle, and what to do about it, for a person. */
export function obstacleText({ code, values }: DatevObstacle): string {
  const list = values.join(", ");
  const texts: Record<DatevObstacle["code"], string> = {
    not_set: "The option datev is not set.",
    account_length: `These accounts don't have the length datev.accountLength, or one digit more: ${list}.`,
    no_account: `These VAT rates have no revenue account: ${list}. Set datev.revenue.`,
    two_years: "The days are in two fiscal years: export each year on its own.",
    over_limit: `There are more than ${list} bookings: export fewer days at once.`,
  };
  return texts[code];
}

/** Returns the first day of the fiscal year of a day, yyyy-mm-dd. */
function fiscalYearOf(day: string, { fiscalYearStart }: DatevSettings): string {
  const year = Number(day.slice(0, 4));
  return `${day.slice(5) < fiscalYearStart ? year - 1 : year}-${fiscalYearStart}`;
}

/**
 * Lists the bookings of a movement: each VAT rate from the revenue account to the receivables, and each payment from the
 * receivables to the method's account. Amounts are gross, since the revenue accounts calculate the VAT.
 */
export function bookingsOf(movement: Movement, settings: DatevSettings): DatevBooking[] {
  const { day, kind, orderName, byRate, cards, others } = movement;
  const chart = charts[settings.chart];
  const accountOf = (name: "receivables" | "giftCards" | "payments") =>
    settings[name] ?? ofLength(chart[name], settings);
  const receivables = accountOf("receivables");
  const order = (orderName ?? "").replace(/[^A-Za-z0-9$&%*+/-]/g, "");
  const text = (what: string) => `${texts[kind]} ${order === "" ? "ohne Bestellung" : order} ${what}`.slice(0, 60);
  const book = (cents: number, account: string, offsetAccount: string, what: string): DatevBooking => ({
    ...{ day, order, account, offsetAccount },
    cents: Math.abs(cents),
    side: cents > 0 ? "S" : "H",
    text: text(what),
  });
  const sold = [...byRate].map(([rate, { grossCents }]) =>
    book(grossCents, receivables, revenueAccount(rate, settings) ?? "", `${rate.replace(".", ",")} %`),
  );
  const paid = cards.map(({ lastFour, cents }) =>
    book(cents, accountOf("giftCards"), receivables, `Gutscheinkarte ${lastFour}`),
  );
  const otherwise = [...others].map(([provider, cents]) =>
    book(cents, settings.paymentsByProvider[provider] ?? accountOf("payments"), receivables, provider),
  );
  return [...sold, ...paid, ...otherwise].filter(({ cents }) => cents !== 0);
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
/** All characters that are written are the same in Latin-1 and Windows-1252. Others become a question mark. */
const encode = (cells: readonly string[]) =>
  Buffer.from(`${cells.join(";").replace(/[^\x20-\x7e\xa0-\xff]/g, "?")}\r\n`, "latin1");

const COLUMN = Object.fromEntries(datevColumns.map((name, index) => [name, index]));

function lineOf({ day, cents, side, account, offsetAccount, order, text }: DatevBooking): Buffer {
  const cells = new Array<string>(datevColumns.length).fill("");
  const set = (column: string, value: string) => {
    cells[COLUMN[column] as number] = value;
  };
  set("Umsatz (ohne Soll/Haben-Kz)", `${Math.floor(cents / 100)},${String(cents % 100).padStart(2, "0")}`);
  set("Soll/Haben-Kennzeichen", quoted(side));
  set("WKZ Umsatz", quoted("EUR"));
  set("Konto", account);
  set("Gegenkonto (ohne BU-Schlüssel)", offsetAccount);
  set("Belegdatum", `${day.slice(8)}${day.slice(5, 7)}`);
  set("Belegfeld 1", quoted(order.slice(0, 36)));
  set("Buchungstext", quoted(text));
  set("Festschreibung", "0");
  return encode(cells);
}

/** Returns the 31 fields of the file's first line. */
function headerOf(days: Days, settings: DatevSettings, now: Date): string[] {
  const { consultantNumber, clientNumber, accountLength, chart } = settings;
  const digits = (text: string) => text.replace(/\D/g, "");
  return [
    ...[quoted("EXTF"), "700", "21", quoted("Buchungsstapel"), "13", digits(now.toISOString()), ""],
    ...[quoted("GP"), quoted(""), quoted(""), String(consultantNumber), String(clientNumber)],
    ...[digits(fiscalYearOf(days.from, settings)), String(accountLength), digits(days.from), digits(days.to)],
    ...[quoted(`Shop ${days.from} ${days.to}`), quoted(""), "1", "0", "0", quoted("EUR")],
    ...["", quoted(""), "", "", quoted(charts[chart].number), "", "", quoted(""), quoted("")],
  ];
}

/**
 * Writes the movements as a DATEV file: the format `Buchungsstapel` in Windows-1252, for a tax consultant's software.
 * @param onTotals called with the totals once all lines are written
 * @throws {RangeError} if the file can't be made; nothing was written then, except if there are too many bookings
 */
export async function* writeDatev(
  bookkeeping: Bookkeeping,
  settings: DatevSettings | undefined,
  onTotals?: (totals: BooksTotals) => void,
): AsyncGenerator<Buffer> {
  const why = whyNoDatev(bookkeeping, settings);
  if (why !== null || !settings) throw new RangeError(obstacleText(why ?? NOT_SET));
  yield encode(headerOf(bookkeeping.days, settings, new Date()));
  yield encode(datevColumns);
  let count = 0;
  for await (const movement of bookkeeping.movements()) {
    const bookings = bookingsOf(movement, settings);
    count += bookings.length;
    if (count > MAX_BOOKINGS) throw new RangeError(obstacleText(OVER_LIMIT));
    if (bookings.length > 0) yield Buffer.concat(bookings.map(lineOf));
  }
  onTotals?.(await bookkeeping.totals());
}
