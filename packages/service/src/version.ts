import fs from "node:fs";
import path from "node:path";

/** The package's version. */
export const { version } = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, "..", "package.json"), "utf8"),
) as { version: string };
