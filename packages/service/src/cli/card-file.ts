import fs from "node:fs";
import path from "node:path";
import { Secret } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { MAX_BALANCE_CENTS } from "../store/card-changes.js";
import type { ImportFault, ImportRow } from "../store/card-import.js";
import type { CardSink } from "../store/card-issue.js";
import { csvCell, isDay } from "./output.js";

const COLUMNS = ["card", "batch", "cardnumber", "pin", "balance", "expiry_date"];
const NEEDED = ["cardnumber", "pin", "balance", "expiry_date"] as const;
const CHUNK = 1000;

/** A CSV file of new cards, readable only by its owner. It gets its name only when it is complete. */
export class CardFile implements CardSink {
  readonly #file: string;
  readonly #balanceCents: number;
  #draft: fs.promises.FileHandle | undefined;
  #batchId: number | null = null;
  #isComplete = false;

  /** @param balanceCents the amount of each card */
  constructor(file: string, balanceCents: number) {
    this.#file = file;
    this.#balanceCents = balanceCents;
  }

  /** The name of the file until the cards are committed. */
  get draft(): string {
    return `${this.#file}.partial`;
  }

  /** Whether all cards are in the file and synced to disk. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get batchId(): number | null {
    return this.#batchId;
  }

  async begin(batchId: number | null): Promise<void> {
    this.#isComplete = false;
    this.#batchId = batchId;
    if (this.#draft) await this.#draft.truncate(0);
    else this.#draft = await this.#open();
    await this.#draft.appendFile(`${COLUMNS.join(",")}\r\n`);
  }

  async take(cards: Parameters<CardSink["take"]>[0]): Promise<void> {
    const lines = cards.map(({ id, cardNumber, pin, expiryDate }) =>
      [id, this.#batchId, cardNumber.reveal(), pin.reveal(), this.#balanceCents, expiryDate].map(csvCell).join(","),
    );
    await this.#draft?.appendFile(`${lines.join("\r\n")}\r\n`);
  }

  /** Syncs the file to disk before the cards are committed, so that no card exists without its number. */
  async end(): Promise<void> {
    await this.#draft?.sync();
    await syncFolder(path.dirname(this.draft));
    this.#isComplete = true;
  }

  /** Gives the file its final name, after the cards are committed. */
  async publish(): Promise<void> {
    await this.#draft?.close();
    try {
      fs.linkSync(this.draft, this.#file);
    } catch (error) {
      const { code } = error as { code?: string };
      throw new OperatorError(
        `The cards are issued, but their file ${this.draft} could not be renamed (${code}). Rename it.`,
      );
    }
    fs.rmSync(this.draft);
  }

  /** Deletes the file if no card was issued. */
  async discard(): Promise<void> {
    if (!this.#draft) return;
    await this.#draft.close();
    fs.rmSync(this.draft, { force: true });
  }

  async #open(): Promise<fs.promises.FileHandle> {
    if (fs.existsSync(this.#file))
      throw new OperatorError(`${this.#file} already exists. Choose another file.`, exitCodes.conflict);
    try {
      return await fs.promises.open(this.draft, "ax", 0o600);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "EEXIST")
        throw new OperatorError(`${this.draft} cannot be created (${code}). Choose a folder in which you may write.`);
      throw new OperatorError(
        `${this.draft} exists, from a run that was interrupted. If \`card batches\` lists the batch in the file, its cards ` +
          "exist and the file is complete: rename it. Otherwise delete it.",
        exitCodes.conflict,
      );
    }
  }
}

/** Syncs a folder's entries to disk. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder, and does not need this.
  if (process.platform === "win32") return;
  const handle = await fs.promises.open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

/**
 * Reads cards from a file separated by commas, semicolons or tabs. The first line names the columns.
 *
 * @param onFault called for each faulty line, without its content
 * @throws {OperatorError} if the file cannot be read, or a column is missing
 */
export async function* readCardFile(file: string, onFault: (fault: ImportFault) => void): AsyncGenerator<ImportRow[]> {
  let rows: ImportRow[] = [];
  let [line, separator, places] = [0, ",", [] as number[]];
  for await (const text of linesOf(file)) {
    line += 1;
    if (line === 1) {
      [separator, places] = readHead(text.replace(/^\uFEFF/, ""));
    } else if (text.trim() !== "") {
      const row = readRow(line, cellsOf(text, separator), places);
      if ("fault" in row) onFault(row);
      else if (rows.push(row) === CHUNK) {
        yield rows;
        rows = [];
      }
    }
  }
  if (line === 0) readHead("");
  if (rows.length > 0) yield rows;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let handle: fs.promises.FileHandle | undefined;
  try {
    handle = await fs.promises.open(file);
    yield* handle.readLines({ encoding: "utf8" });
  } catch (error) {
    throw new OperatorError(`${file} cannot be read (${(error as { code?: string }).code}).`);
  } finally {
    await handle?.close();
  }
}

const cellsOf = (text: string, separator: string) =>
  text.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));

function readHead(text: string): [separator: string, places: number[]] {
  const separator = [";", "\t"].find((one) => text.includes(one)) ?? ",";
  const names = cellsOf(text.toLowerCase(), separator);
  const places = NEEDED.map((name) => names.indexOf(name));
  if (places.includes(-1)) {
    throw new OperatorError(
      `The first line must name the columns ${NEEDED.join(", ")}. Others are ignored.`,
      exitCodes.usage,
    );
  }
  return [separator, places];
}

function readRow(line: number, cells: string[], places: readonly number[]): ImportRow | ImportFault {
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
