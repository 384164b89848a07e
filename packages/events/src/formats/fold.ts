const MAX_LINE_BYTES = 75;

/**
 * Folds a line of a calendar: each of its pieces has at most 75 bytes of UTF-8, and no character is cut in two. The
 * calendar's library counts with an encoder of its own for every character, which takes it seconds for a long list.
 *
 * @param line without its end
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
      bytes = 1; // the space that a further piece begins with
    }
    bytes += size;
    if (size === 4) at++;
  }
  return [...pieces, line.slice(begin)].join("\r\n ");
}

/** Of a pair, the first half stands for both. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code >= 0xd800 && code <= 0xdbff ? 4 : 3;
}
