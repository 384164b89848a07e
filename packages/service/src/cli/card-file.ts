import fs from "node:fs";
import path from "node:path";
import { isAborted } from "../database/conflicts.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { CardSink, IssuedCard } from "../store/card-issue.js";
import { csvHead, csvRows } from "./rows.js";

export interface CardFileFormat<Made extends IssuedCard> {
  readonly columns: readonly string[];
  readonly cells: (card: Made, batchId: number | null) => readonly (string | number | null)[];
  /** Completes "If …, the cards exist", for a person who finds the file of an interrupted run. */
  readonly proof: string;
}

/** A CSV file of new cards, readable only by its owner. It gets its name only when it is complete. */
export class CardFile<Made extends IssuedCard> implements CardSink<Made> {
  #draft: fs.promises.FileHandle | undefined;
  #batchId: number | null = null;
  #isComplete = false;

  constructor(
    private readonly file: string,
    private readonly format: CardFileFormat<Made>,
  ) {}

  /** The name of the file until the cards are committed. */
  get draft(): string {
    return `${this.file}.partial`;
  }

  async begin(batchId: number | null): Promise<void> {
    this.#isComplete = false;
    this.#batchId = batchId;
    if (this.#draft) await this.#draft.truncate(0);
    else this.#draft = await this.#open();
    await this.#draft.appendFile(csvHead(this.format.columns));
  }

  async take(cards: readonly Made[]): Promise<void> {
    await this.#draft?.appendFile(csvRows(cards.map((card) => this.format.cells(card, this.#batchId))));
  }

  /** Syncs the file to disk before the cards are committed, so that no card exists without its number. */
  async end(): Promise<void> {
    await this.#draft?.sync();
    await syncFolder(path.dirname(this.draft));
    this.#isComplete = true;
  }

  /**
   * Runs a transaction that fills the file. Then gives the file its name, or deletes it if no card was made.
   *
   * @param isMade whether the transaction was committed
   * @throws {OperatorError} if the file can't be named, or it is unknown whether the cards exist
   */
  async fill<T>(work: () => Promise<T>, isMade: (result: T) => boolean = () => true): Promise<T> {
    let result: T;
    try {
      result = await work();
    } catch (error) {
      // Nothing is committed before the file is complete. After that, the answer to the commit may have been lost.
      if (this.#isComplete && !isAborted(error)) {
        throw new OperatorError(
          `It is unknown whether the cards were made. If ${this.format.proof}, they were, and ${this.draft} is complete: ` +
            "rename it. Otherwise delete it.",
        );
      }
      await this.#discard();
      throw error;
    }
    await (isMade(result) ? this.#publish() : this.#discard());
    return result;
  }

  /** Gives the file its final name, after the cards are committed. */
  async #publish(): Promise<void> {
    await this.#draft?.close();
    try {
      fs.linkSync(this.draft, this.file);
    } catch (error) {
      const { code } = error as { code?: string };
      throw new OperatorError(
        `The cards exist, but their file ${this.draft} could not be renamed (${code}). Rename it.`,
      );
    }
    fs.rmSync(this.draft);
  }

  async #discard(): Promise<void> {
    if (!this.#draft) return;
    await this.#draft.close();
    fs.rmSync(this.draft, { force: true });
  }

  async #open(): Promise<fs.promises.FileHandle> {
    // Also a link whose target does not exist: the file could not get its name.
    if (fs.lstatSync(this.file, { throwIfNoEntry: false }))
      throw new OperatorError(`${this.file} already exists. Choose another file.`, exitCodes.conflict);
    try {
      return await fs.promises.open(this.draft, "ax", 0o600);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "EEXIST")
        throw new OperatorError(`${this.draft} cannot be created (${code}). Choose a folder in which you may write.`);
      throw new OperatorError(
        `${this.draft} exists, from a run that was interrupted. If ${this.format.proof}, the cards exist and the file is ` +
          "complete: rename it. Otherwise delete it.",
        exitCodes.conflict,
      );
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder, and does not need this.
  if (process.platform === "win32") return;
  const handle = await fs.promises.open(folder, "r");
  await handle.sync().finally(() => handle.close());
}
