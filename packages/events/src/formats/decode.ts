/** The text of a table, and the character set that it was read in. */
export interface DecodedText {
  readonly text: string;
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
}

/**
 * Decodes a table as spreadsheets write it: UTF-8, UTF-16, or Windows-1252 if it is not valid UTF-8.
 *
 * @throws {Error} if the bytes are no text
 */
export function decodeTable(bytes: Uint8Array): DecodedText {
  const [first, second] = bytes;
  if (first === 0x50 && second === 0x4b) throw new Error("it is a workbook. Save it as CSV in UTF-8");
  for (const encoding of encodingsOf(bytes)) {
    const text = decoded(bytes, encoding);
    if (text !== undefined) return { text, encoding };
  }
  throw new Error("its characters are neither UTF-8, UTF-16 nor Windows-1252. Save it as CSV in UTF-8");
}

/** Returns the encodings that the first two bytes allow. A table begins with the name of a column. */
function encodingsOf([first, second]: Uint8Array): DecodedText["encoding"][] {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return ["utf-16le"];
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return ["utf-16be"];
  return ["utf-8", "windows-1252"];
}

/** Returns undefined if the bytes are invalid in the encoding. */
function decoded(bytes: Uint8Array, encoding: DecodedText["encoding"]): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    // Windows-1252 has no character for some bytes, which the decoder returns as control characters. No text contains NUL.
    const unassigned = encoding === "windows-1252" ? /[\0\u0080-\u009f]/ : /\0/;
    return unassigned.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
