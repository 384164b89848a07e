/** More than any item has. */
const MAX_ITEM_CHARACTERS = 1024 * 1024;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENS = new Set([0x5b, 0x7b]);
const CLOSES = new Set([0x5d, 0x7d]);

/** Reads a JSON array as its text arrives. */
export interface JsonListReader {
  /**
   * Reads the next piece of the text.
   *
   * @returns the items that this piece completes
   * @throws {SyntaxError} if the text is not a JSON array, or an item is too long
   */
  read(text: string): unknown[];
  /** Ends the text. @throws {SyntaxError} if the array has not ended */
  end(): void;
}

/** Creates a reader. It holds only the current item in memory, never the list. */
export function readJsonList(): JsonListReader {
  let pending = "";
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isOver = false;
  let isFirst = true;

  /** This reader only finds the ends of items. JSON.parse validates them. */
  const takeItem = (text: string, isLast: boolean): unknown[] => {
    const isEmpty = isFirst && isLast && text.trim() === "";
    isFirst = false;
    return isEmpty ? [] : [JSON.parse(text)];
  };

  /** Whether an item ends before this character. */
  const endsItem = (code: number): boolean => {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (code === BACKSLASH) isEscaped = true;
      else if (code === QUOTE) isInString = false;
      return false;
    }
    if (code === QUOTE) isInString = true;
    else if (OPENS.has(code)) depth += 1;
    else if (CLOSES.has(code)) depth -= 1;
    return (depth === 1 && code === COMMA) || depth === 0;
  };

  return {
    read(piece) {
      let text = piece;
      if (depth === 0 && !isOver) {
        text = (pending + text).trimStart();
        if (text === "") return [];
        if (!text.startsWith("[")) throw new SyntaxError("Not a JSON array.");
        pending = "";
        depth = 1;
        text = text.slice(1);
      }
      const items: unknown[] = [];
      let start = 0;
      for (let index = 0; index < text.length && !isOver; index++) {
        if (!endsItem(text.charCodeAt(index))) continue;
        isOver = depth === 0;
        items.push(...takeItem(pending + text.slice(start, index), isOver));
        pending = "";
        start = index + 1;
      }
      pending += text.slice(start);
      if (isOver && pending.trim() !== "") throw new SyntaxError("There is text after the JSON array.");
      if (pending.length > MAX_ITEM_CHARACTERS) throw new SyntaxError("An item is too long.");
      return items;
    },
    end() {
      if (!isOver) throw new SyntaxError("The JSON array is incomplete.");
    },
  };
}
