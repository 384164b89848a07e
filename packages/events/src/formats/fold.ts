const MAX_LINE_BYTES = 75;

/**
 * Folds a line of a calendar into pieces of at most 75 bytes of UTF-8, without splitting a character. The calendar library's
 * own folding creates an encoder per character, which takes seconds for a long list.
 *
 * @param line without its line end
 */
export function foldLine(line: string): string {
  const pieces: string[] = [];
  let begin = 0;
  let bytes = 0;
  for (let at = 0; at < line.length; at++) {
    const size = bytesOf(line.charCodeAt(at));
    if (bytes + size > MAX_LINE_BYTES) {
      pieces.push(line.slice(begin, at));
      begin = at;
      bytes = 1; // the space at the start of each further piece
    }
    bytes += size;
    if (size === 4) at++;
  }
  return [...pieces, line.slice(begin)].join("\r\n ");
}

/** Returns the bytes of a character. The first half of a surrogate pair counts for both halves. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code >= 0xd800 && code <= 0xdbff ? 4 : 3;
}
