import { createInterface, type Interface } from "node:readline";
import { exitCodes, OperatorError } from "../operator-error.js";

let lines: AsyncIterator<string> | undefined;
let reader: Interface | undefined;

/** Reads the next line of standard input. Several values have a line each. */
export async function readLine(what: string): Promise<string> {
  reader ??= createInterface({ input: process.stdin, terminal: false });
  lines ??= reader[Symbol.asyncIterator]();
  const { value, done } = await lines.next();
  if (done || value === "") throw new OperatorError(`Give ${what} as a line on standard input.`, exitCodes.usage);
  return value;
}

/** Closes standard input, so that the process can end although a terminal is open. */
export function closeStdin(): void {
  reader?.close();
}
