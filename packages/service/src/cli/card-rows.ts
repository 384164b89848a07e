import { Secret } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { CardLine, LineFault } from "../store/bulk-change.js";
import { MAX_BALANCE_CENTS } from "../store/card-changes.js";
import type { ImportRow } from "../store/card-import.js";
import { readCsv } from "./csv-file.js";
import { isDay, isIdentifier } from "./output.js";

const NEEDED = ["cardnumber", "pin", "balance", "expiry_date"] as const;

/**
 * Reads new cards from a CSV file.
 *
 * @param onFault called for each faulty line, without its content
 * @throws {OperatorError} if the file can't be read, or a column is missing
 */
export const readNewCards = (file: string, onFault: (fault: LineFault) => void): AsyncGenerator<ImportRow[]> =>
  readCsv(
    file,
    (names) => {
      const places = NEEDED.map((name) => names.indexOf(name));
      if (places.includes(-1)) {
        throw new OperatorError(
          `The first line must name the columns ${NEEDED.join(", ")}. Others are ignored.`,
          exitCodes.usage,
        );
      }
      return (line, cells) => readRow(line, cells, places);
    },
    onFault,
  );

function readRow(line: number, cells: readonly string[], places: readonly number[]): ImportRow | LineFault {
  const [cardNumber = "", pin = "", balance = "", expiryDate = ""] = places.map((place) => cells[place]);
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
 * Reads the cards that a CSV file names by `cardnumber`, or else by `card`, their id. The number wins, since an id may
 * belong to another database.
 *
 * @param onFault called for each faulty line, without its content
 * @throws {OperatorError} if the file can't be read, or has neither column
 */
export const readNamedCards = (file: string, onFault: (fault: LineFault) => void): AsyncGenerator<CardLine[]> =>
  readCsv<CardLine>(
    file,
    (names) => {
      const name = ["cardnumber", "card"].find((one) => names.includes(one));
      if (name === undefined) {
        throw new OperatorError(
          "The first line must name a column cardnumber, or card with ids. Others are ignored.",
          exitCodes.usage,
        );
      }
      const place = names.indexOf(name);
      const readCell = name === "card" ? byId : byNumber;
      return (line, cells) => readCell(line, cells[place] ?? "");
    },
    onFault,
  );

function byNumber(line: number, cell: string): CardLine | LineFault {
  const cardNumber = cell.replace(/[\s-]/g, "");
  if (!/^[A-Za-z0-9]{1,64}$/.test(cardNumber)) return { line, fault: "cardnumber must be 1 to 64 letters and digits" };
  return { line, reference: { cardNumber: new Secret(cardNumber) } };
}

const byId = (line: number, cell: string): CardLine | LineFault =>
  isIdentifier(cell) ? { line, reference: { cardId: Number(cell) } } : { line, fault: "card must be the id of a card" };
