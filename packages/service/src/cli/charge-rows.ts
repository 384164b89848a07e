import { MAX_DEDUCTION_CENTS } from "@giftcard-pay/client/contract";
import type { LineFault } from "../store/bulk-change.js";
import type { JournalCharge } from "../store/lost-charges.js";
import { isIdentifier } from "./output.js";
import { readTableFile } from "./table-file.js";

const NEEDED = ["reference", "company", "requested", "deducted", "last_four", "token_sha256", "reversed_at"] as const;
const MAX_CENTS = 2_147_483_647;

/**
 * Reads the charges of a merchant's journal from a CSV file.
 *
 * @throws {OperatorError} if the file can't be read, or a column is missing
 */
export async function readJournalCharges(file: string): Promise<{ charges: JournalCharge[]; faults: LineFault[] }> {
  const faults: LineFault[] = [];
  const charges: JournalCharge[] = [];
  const pages = readTableFile<string, JournalCharge>(
    file,
    {
      columns: NEEDED,
      choose: (has) => (NEEDED.every(has) ? NEEDED : []),
      missing: `The first line must name the columns ${NEEDED.join(", ")}. Others are ignored.`,
      readRow: (line, cells) =>
        readRow(
          line,
          NEEDED.map((name) => cells[name] ?? ""),
        ),
    },
    (fault) => faults.push(fault),
  );
  for await (const page of pages) charges.push(...page);
  return { charges, faults };
}

function readRow(line: number, cells: readonly string[]): JournalCharge | LineFault {
  const [reference = "", company = "", requested = "", deducted = "", lastFour = "", token = "", reversedAt = ""] =
    cells;
  const mostCents = Math.min(Number(requested), MAX_DEDUCTION_CENTS);
  const faults = [
    /^[!-~]{1,255}$/.test(reference) || "reference must be 1 to 255 visible ASCII characters",
    isIdentifier(company) || "company must be the id of a company",
    isCents(requested, MAX_CENTS) || "requested must be whole cents, at least 1",
    isCents(deducted, mostCents) || "deducted must be whole cents from 1 to requested, at most 5000",
    /^(\d{1,4}|[A-Za-z0-9]{4}|•{4})$/.test(lastFour) || "last_four must be the last characters of a card number",
    /^([0-9a-f]{64})?$/.test(token) || "token_sha256 must be 64 hexadecimal digits, or empty",
    reversedAt === "" || isTime(reversedAt) || "reversed_at must be a time such as 2030-01-31T12:00:00Z, or empty",
  ].filter((fault) => fault !== true);
  if (faults.length > 0) return { line, fault: faults.join("; ") };
  return {
    line,
    reference,
    companyId: Number(company),
    requestedCents: Number(requested) as JournalCharge["requestedCents"],
    deductedCents: Number(deducted) as JournalCharge["deductedCents"],
    // A spreadsheet drops leading zeros.
    lastFour: lastFour.padStart(4, "0"),
    tokenHash: token === "" ? null : Buffer.from(token, "hex"),
    isReversed: reversedAt !== "",
  };
}

const isCents = (text: string, most: number) => /^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= most;

/** Whether a text is a time that begins with a day. JavaScript also takes `0` for one, and a charge would be reversed. */
const isTime = (text: string) => /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
