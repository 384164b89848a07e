import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** A misuse of a package, and the line of its source that throws. */
export interface Mistake {
  readonly name: string;
  readonly program: string;
  /** The program's module format. */
  readonly kind: "module" | "commonjs";
  /** The source file, relative to the repository's root. */
  readonly source: string;
  /** A text in the line that throws, and in no earlier line. */
  readonly line: string;
}

/** Runs the program in a project with the package installed, and returns Node's stderr. */
export async function makeMistake(folder: string, { program, kind }: Mistake): Promise<string> {
  const args = ["--enable-source-maps", `--input-type=${kind}`, "--eval", program];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_error, _stdout, stderr) => resolve(stderr));
  });
}

/** Returns the line as a stack trace shows it: the package's source file and the line number. */
export async function whereThrown({ source, line }: Mistake): Promise<string> {
  const lines = (await readFile(path.join(root, source), "utf8")).split("\n");
  const at = lines.findIndex((one) => one.includes(line));
  return `${source.replace("packages", "@giftcard-pay")}:${at + 1}`;
}
