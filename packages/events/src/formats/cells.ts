import type { RowField } from "../row.js";

/** The order of day and month in dates such as `05-10-2036`. */
export type DateOrder = "day-first" | "month-first";

/** A cell's content: the interface's value, or why it has none. */
export type CellReading = { readonly value: string } | { readonly fault: string };

const DATE_FORM = "must be a date, such as 2036-10-26 or 26.10.2036";
const TIME_FORM = "must be a time, such as 19:30 or 19:30:00";
const TRUTH_FORM = "must be yes or no, or 1 or 0";

/** Errors of formulas in English, Dutch, German and French. */
const CELL_ERROR =
  /^#(?:REF!|N\/A|N\/B|NV|NAME\?|NAAM\?|NOM\s?\?|VALUE!|WAARDE!|WERT!|VALEUR!|DIV\/0!|DEEL\/0!|VERW!|BEZUG!|NULL!|NUM!|GETAL!|ZAHL!)$/;

/**
 * Reads a cell of a table, as people write it.
 *
 * @param text the cell, not empty
 */
export function readCell(field: RowField, text: string, order: DateOrder | undefined): CellReading {
  if (CELL_ERROR.test(text)) return { fault: "is an error of the spreadsheet. Correct the cell" };
  if (field === "event_start_date" || field === "event_end_date") return readDate(text, order);
  if (field === "event_start_time" || field === "event_end_time") return readTime(text);
  if (field === "activated") return readTruth(text);
  if (field === "state") return { value: text.toLowerCase().replace(/^cancelled$/, "canceled") };
  return { value: text };
}

const YEAR_FIRST = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/;
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$/;

function readDate(text: string, order: DateOrder | undefined): CellReading {
  const [, year = "", , month = "", day = ""] = YEAR_FIRST.exec(text) ?? [];
  if (year) return { value: dateOf(year, month, day) };
  const [, first = "", separator, second = "", lastYear = ""] = YEAR_LAST.exec(text) ?? [];
  if (!lastYear) return { fault: DATE_FORM };
  const [dayFirst, monthFirst] = [dateOf(lastYear, second, first), dateOf(lastYear, first, second)];
  // Dots separate a day, a month and a year in all countries that write them.
  if (separator === "." || order === "day-first") return { value: dayFirst };
  if (order === "month-first") return { value: monthFirst };
  if (Number(second) > 12 && Number(first) <= 12)
    return { fault: `has the month first. Write ${monthFirst}, or set the order of the dates to month-first` };
  if (dayFirst !== monthFirst && Number(first) <= 12)
    return { fault: `can mean ${dayFirst} or ${monthFirst}. Write one of these, or set the order of the dates` };
  return { value: dayFirst };
}

const dateOf = (year: string, month: string, day: string) =>
  `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;

const CLOCK = /^(\d{1,2})(?: ?([:.hu]) ?(\d\d)(?:\2(\d\d))?)?( ?(?:h|u|uur|uhr))?$/;
const TWELVE_HOURS = /^(\d{1,2})(?:([:.])(\d\d)(?:\2(\d\d))?)? ?([ap])\.? ?m\.?$/;

function readTime(text: string): CellReading {
  const plain = text.toLowerCase().replaceAll(/\s/g, " ");
  const [, hour = "", , minute, second = "00", word] = CLOCK.exec(plain) ?? [];
  if (hour && (minute ?? word)) return { value: [hour.padStart(2, "0"), minute ?? "00", second].join(":") };
  const [, half = "", , past = "00", seconds = "00", letter] = TWELVE_HOURS.exec(plain) ?? [];
  if (Number(half) < 1 || Number(half) > 12) return { fault: TIME_FORM };
  const hours = (Number(half) % 12) + (letter === "p" ? 12 : 0);
  return { value: [String(hours).padStart(2, "0"), past, seconds].join(":") };
}

const YES = new Set(["1", "x", "y", "j", "yes", "ja", "oui", "true", "waar", "wahr", "vrai"]);
const NO = new Set(["0", "n", "no", "nee", "nein", "non", "false", "onwaar", "falsch", "faux"]);

function readTruth(text: string): CellReading {
  const word = text.toLowerCase();
  if (YES.has(word)) return { value: "1" };
  return NO.has(word) ? { value: "0" } : { fault: TRUTH_FORM };
}
