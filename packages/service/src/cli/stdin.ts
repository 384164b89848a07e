import { createInterface, type Interface } from "node:readline";
import { exitCodes, OperatorError } from "../operator-error.js";

let lines: AsyncIterator<string> | undefined;
let reader: Interface | undefined;

/** Reads the next line of standard input: where several values come from there, each has its own line. */
export async function readLine(what: string): Promise<string> {
  reader ??= createInterface({ input: process.stdin, terminal: false });
  lines ??= reader[Symbol.asyncIterator]();
  const { value, done } = await lines.next();
  if (done || value === "")
    throw new OperatorError(`Give ${what} as a line of standard input.`, exitCodes.usage);
  return value;
}

/** Lets the process end although a terminal's input is still open. */
export function closeStdin(): void {
  reader?.close();
}
