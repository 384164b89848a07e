/** More than any entry of a report has, and than the text around its lists. */
const MAX_CHARACTERS = 100_000;

/** A text in chunks, such as a file's stream. */
export type Chunks = Iterable<string> | AsyncIterable<string>;

/**
 * Reads a JSON object in chunks, and yields each object in its lists as `[name of the list, its text]`. It needs no more
 * memory than the longest entry.
 *
 * @returns the text without those objects
 * @throws {RangeError} if an entry, or the text around the lists, is too long
 */
export async function* readListedObjects(chunks: Chunks): AsyncGenerator<[list: string, text: string], string> {
  let [frame, entry, list] = ["", "", ""];
  /** The open brackets, and the quote of an open string. */
  let open = "";
  let isEscaped = false;
  for await (const chunk of chunks) {
    for (const character of chunk) {
      const wasEntry = open.startsWith("{[{");
      const isText = open.endsWith('"');
      if (isText && (isEscaped || character === "\\")) isEscaped = !isEscaped;
      else if (isText ? character === '"' : "}]".includes(character)) open = open.slice(0, -1);
      else if (!isText && '{["'.includes(character)) {
        if (open === "{" && character === "[") list = /"([^"]*)"\s*:\s*$/.exec(frame.slice(-100))?.[1] ?? "";
        open += character;
      }
      if (wasEntry || open.startsWith("{[{")) entry += character;
      // Only commas separate the entries.
      else if (open !== "{[" || character !== ",") frame += character;
      if (wasEntry && open === "{[") {
        yield [list, entry];
        entry = "";
      }
    }
    if (frame.length > MAX_CHARACTERS || entry.length > MAX_CHARACTERS)
      throw new RangeError("An entry of the list is too long.");
  }
  return frame;
}
