import { Secret } from "@giftcard-pay/client/contract";
import type { CardLine, LineFault } from "../store/bulk-change.js";
import { MAX_BALANCE_CENTS } from "../store/card-changes.js";
import type { ImportRow } from "../store/card-import.js";
import { isDay, isIdentifier } from "./output.js";
import { readTableFile } from "./table-file.js";

const NEEDED = ["cardnumber", "pin", "balance", "expiry_date"] as const;

/**
 * Reads new cards from a table file.
 *
 * @param onFault called for each faulty line, without its content
 * @throws {OperatorError} if the file can't be read, or a column is missing
 */
export const readNewCards = (file: string, onFault: (fault: LineFault) => void): AsyncGenerator<ImportRow[]> =>
  readTableFile(
    file,
    {
      columns: NEEDED,
      choose: (has) => (NEEDED.every(has) ? NEEDED : []),
      missing: `The first line must name the columns ${NEEDED.join(", ")}. Others are ignored.`,
      readRow: readNewCard,
    },
    onFault,
  );

function readNewCard(line: number, cells: Readonly<Record<string, string>>): ImportRow | LineFault {
  const { cardnumber: cardNumber = "", pin = "", balance = "", expiry_date: expiryDate = "" } = cells;
  const faults = [
    /^[A-Za-z0-9]{1,64}$/.test(cardNumber) || "cardnumber must be 1 to 64 letters and digits",
    /^[!-~]{1,64}$/.test(pin) || "pin must be 1 to 64 characters without spaces",
    (/^\d{1,9}$/.test(balance) && Number(balance) <= MAX_BALANCE_CENTS) ||
      `balance must be whole cents from 0 to ${MAX_BALANCE_CENTS}`,
    isDay(expiryDate) || "expiry_date must be a date, yyyy-mm-dd",
  ].filter((fault) => fault !== true);
  if (faults.length > 0) return { line, fault: faults.join("; ") };
  return {
    line,
    cardNumber: new Secret(cardNumber),
    pin: new Secret(pin),
    balanceCents: Number(balance) as ImportRow["balanceCents"],
    expiryDate,
  };
}

/**
 * Reads the cards that a table file names by `cardnumber`, or else by `card`, their id. The number wins, since an id may
 * belong to another database.
 *
 * @param onFault called for each faulty line, without its content
 * @throws {OperatorError} if the file can't be read, or has neither column
 */
export const readNamedCards = (file: string, onFault: (fault: LineFault) => void): AsyncGenerator<CardLine[]> =>
  readTableFile<(typeof NAMING)[number], CardLine>(
    file,
    {
      columns: NAMING,
      choose: (has) => NAMING.filter(has).slice(0, 1),
      missing: "The first line must name a column cardnumber, or card with ids. Others are ignored.",
      readRow: (line, { cardnumber, card = "" }) =>
        cardnumber === undefined ? byId(line, card) : byNumber(line, cardnumber),
    },
    onFault,
  );

const NAMING = ["cardnumber", "card"] as const;

function byNumber(line: number, cell: string): CardLine | LineFault {
  const cardNumber = cell.replace(/[ \u00A0\u202F-]/g, "");
  if (!/^[A-Za-z0-9]{1,64}$/.test(cardNumber)) return { line, fault: "cardnumber must be 1 to 64 letters and digits" };
  return { line, reference: { cardNumber: new Secret(cardNumber) } };
}

const byId = (line: number, cell: string): CardLine | LineFault =>
  isIdentifier(cell) ? { line, reference: { cardId: Number(cell) } } : { line, fault: "card must be the id of a card" };
