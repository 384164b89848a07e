/** Longer than any entry of a report, and than what stands around its lists. */
const MAX_CHARACTERS = 100_000;

/** Text as it comes from a file. */
export type Chunks = Iterable<string> | AsyncIterable<string>;

/**
 * Reads a JSON object piece by piece, and gives each object in its lists as `[name of the list, its text]`: a file of any
 * length needs no more memory than its longest entry.
 *
 * @returns the whole text without those objects
 * @throws {RangeError} where an entry, or what is left, has no end
 */
export async function* readListedObjects(
  chunks: Chunks,
): AsyncGenerator<[list: string, text: string], string> {
  let [rest, entry, list] = ["", "", ""];
  /** The brackets that are open, and the quote of a text that is. */
  let open = "";
  let isEscaped = false;
  for await (const chunk of chunks) {
    for (const character of chunk) {
      const wasEntry = open.startsWith("{[{");
      const isText = open.endsWith('"');
      if (isText && (isEscaped || character === "\\")) isEscaped = !isEscaped;
      else if (isText ? character === '"' : "}]".includes(character)) open = open.slice(0, -1);
      else if (!isText && '{["'.includes(character)) {
        if (open === "{" && character === "[") list = /"([^"]*)"\s*:\s*$/.exec(rest.slice(-100))?.[1] ?? "";
        open += character;
      }
      if (wasEntry || open.startsWith("{[{")) entry += character;
      // Between entries there is nothing but commas.
      else if (open !== "{[" || character !== ",") rest += character;
      if (wasEntry && open === "{[") {
        yield [list, entry];
        entry = "";
      }
    }
    if (rest.length > MAX_CHARACTERS || entry.length > MAX_CHARACTERS)
      throw new RangeError("An entry of the list has no end.");
  }
  return rest;
}
