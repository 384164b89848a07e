import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** A mistake that a package is used with, and the line of its source that throws. */
export interface Mistake {
  readonly name: string;
  readonly program: string;
  /** The kind of module that the program is. */
  readonly kind: "module" | "commonjs";
  /** From the repository's root. */
  readonly source: string;
  /** What stands in the line, and in no line before it. */
  readonly line: string;
}

/** Makes a mistake in a project in which the package is installed; what Node then says on its error output. */
export async function makeMistake(folder: string, { program, kind }: Mistake): Promise<string> {
  const args = ["--enable-source-maps", `--input-type=${kind}`, "--eval", program];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_error, _stdout, stderr) => resolve(stderr));
  });
}

/** How a stack trace names the line: the package's own file, as it is in the repository, and its number. */
export async function whereThrown({ source, line }: Mistake): Promise<string> {
  const lines = (await readFile(path.join(root, source), "utf8")).split("\n");
  const at = lines.findIndex((one) => one.includes(line));
  return `${source.replace("packages", "@giftcard-pay")}:${at + 1}`;
}
