import { writeToString } from "@fast-csv/format";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import Papa from "papaparse";
import { describe, expect, test } from "vitest";
import { readTable, TableError, tableText, unguarded } from "../src/formats/table.js";

type Table = readonly (readonly string[])[];

/** Reads a table whose known columns are "pin" and "card". Returns undefined if it is refused. */
async function read(source: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<Table | undefined> {
  const rows: (readonly string[])[] = [];
  try {
    for await (const { cells } of readTable(source, { columns: ["pin", "card"] })) rows.push(cells);
    // Commands refuse such a table.
    if (rows.some((cells) => cells.length !== rows[0]?.length)) return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(TableError);
    return undefined;
  }
  return rows;
}

/** A stream of the bytes of a file, in pieces that cut characters and line ends. */
async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Other writers. Each quotes other cells than the others. */
const writers: Record<string, (table: Table, delimiter: string, lineEnd: string) => string | Promise<string>> = {
  papaparse: (table, delimiter, newline) => Papa.unparse(table as string[][], { delimiter, newline }),
  "papaparse, all quoted": (table, delimiter, newline) =>
    Papa.unparse(table as string[][], { delimiter, newline, quotes: true }),
  "csv-stringify": (table, delimiter, record_delimiter) =>
    stringify(table as string[][], { delimiter, record_delimiter }),
  "fast-csv": (table, delimiter, rowDelimiter) => writeToString(table as string[][], { delimiter, rowDelimiter }),
};

const cell = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.stringMatching(/^[ -~\t\r\n]{0,8}$/),
  fc.constantFrom(
    "0012",
    "'0012",
    '="0012"',
    "=1+1",
    '"',
    '""',
    ",",
    ";",
    "\t",
    "\r",
    "\n",
    "\r\n",
    " x ",
    "é€",
    "sep=;",
  ),
);
const table = fc.integer({ min: 1, max: 4 }).chain((width) => {
  const row = fc.array(cell, { minLength: width, maxLength: width });
  return fc
    .tuple(row, fc.array(row, { maxLength: 6 }), fc.nat(width - 1), fc.constantFrom("pin", "Card"))
    .map(([header, rows, place, name]): Table => [header.with(place, name), ...rows]);
});
/** csv-stringify quotes no line end but its own, so it may write a table that is also one with another line end. */
const isOther = (rows: Table, lineEnd: string) =>
  (lineEnd === "\n" && rows.every((row) => row.at(-1)?.endsWith("\r"))) ||
  (lineEnd === "\r" && rows.slice(1).every((row) => row[0]?.startsWith("\n")));
const isFilled = (row: readonly string[]) => row.some((text) => /\S/.test(text));

describe("a table of any cells", () => {
  test.each(Object.entries(writers))("that %s writes is read as it was, or refused", async (name, write) => {
    let refused = 0;
    let all = 0;
    const separators = fc.constantFrom(",", ";", "\t");
    const lineEnds = fc.constantFrom("\n", "\r\n", "\r");
    await fc.assert(
      fc.asyncProperty(
        table,
        separators,
        lineEnds,
        fc.integer({ min: 1, max: 9 }),
        async (rows, separator, lineEnd, size) => {
          if (name === "csv-stringify") fc.pre(!isOther(rows, lineEnd));
          const found = await read(inPieces(Buffer.from(await write(rows, separator, lineEnd)), size));
          all += 1;
          if (found) expect(found).toEqual(rows.filter(isFilled));
          else refused += 1;
        },
      ),
      { numRuns: 300 },
    );
    // Every second of csv-stringify's tables has a line end that isn't quoted.
    expect(refused).toBeLessThan(all * 0.6);
  });

  test("that this package writes is read as it was", async () => {
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const found = await read(tableText(rows));
        // A tab or carriage return gets a guard, so that its row isn't empty.
        const filled = rows.filter((row) => isFilled(row) || row.some((text) => /^[\t\r]/.test(text)));
        expect(found?.map((row) => row.map(unguarded))).toEqual(filled);
      }),
      { numRuns: 300 },
    );
  });

  test("has the same cells in UTF-16 and after a byte order mark", async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        const text = tableText([["card", "é"], ...rows.map((row) => [...row, ""].slice(0, 2))]);
        const littleEndian = Buffer.from(`\uFEFF${text}`, "utf16le");
        const expected = await read(text);
        for (const bytes of [
          Buffer.from(`\uFEFF${text}`),
          littleEndian,
          littleEndian.subarray(2),
          Buffer.from(littleEndian).swap16(),
          Buffer.from(littleEndian.subarray(2)).swap16(),
        ])
          expect(await read(inPieces(bytes, size + 1))).toEqual(expected);
      }),
    );
  });
});

const linesOf = async (text: string) => {
  const lines: number[] = [];
  for await (const { line } of readTable(text, { columns: ["card", "pin"] })) lines.push(line);
  return lines;
};

describe("a row", () => {
  test.each(["\n", "\r\n", "\r"])("has the line in which it begins, with the line end %j", async (lineEnd) => {
    const lines = ["sep=,", "card,note", '1,"a', 'b"', "", ",", "2,c", '"3",d'];
    expect(await linesOf(lines.join(lineEnd))).toEqual([2, 3, 7, 8]);
  });
});

describe("a refusal", () => {
  test.each([
    ['card,pin\n1,2\n"7531,4\n5,6\n', /^line 3: a quote is not closed$/],
    ['card,pin\n1,7531"x"\n', /^line 2: a quote doesn't enclose its cell/],
    ['card,pin\n1,"7531"x\n', /^line 2: a quote doesn't enclose its cell/],
    ["card,x;pin\n1,7531\n", /^line 1: the separator is ambiguous/],
    ["card,pin\r\n1,2\n3,7531\r\n", /^line 2: its line end differs/],
    ["card\r1\n7531\r", /^line 2: its line end differs/],
    ["sep=7\ncard\n7531\n", /^line 1: sep= must name a separator/],
    [`card\n${"7531,".repeat(256)}\n`, /^line 2: the row has more than 256 cells$/],
    [`card\n1\n"7531${" ".repeat(1024 * 1024)}\n`, /^line 3: the row has more than 1048576 characters/],
    ["card\n7531\0\n", /neither UTF-8/],
    ["PK7531", /workbook/],
  ])("of %.30j names the line, without its content", async (text, message) => {
    const failure: unknown = await linesOf(text).catch((error) => error);
    expect(failure).toBeInstanceOf(TableError);
    const { message: said, stack } = failure as TableError;
    expect(said).toMatch(message);
    expect(stack).not.toContain("7531");
  });
});

describe("a guard", () => {
  test.each([
    ['="0123"', "0123"],
    ['="a""b"', 'a"b'],
    ["'0123", "0123"],
    ["'=1", "=1"],
    ["''=1", "'=1"],
    ["''36", "'36"],
    ["'t Veem", "'t Veem"],
    ["=1+1", "=1+1"],
    ["-12", "-12"],
    ["0123", "0123"],
  ])("in %j is removed: %j", (text, plain) => {
    expect(unguarded(text)).toBe(plain);
  });
});
