/** The languages that are loaded on demand: one file each in `src/messages`. Everything that lists them reads them here. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const folder = path.join(import.meta.dirname, "..", "src", "messages");

/** Their codes. English is a part of the main file. */
export const languages = readdirSync(folder)
  .flatMap((name) => /^(?!en)([a-z]{2})\.ts$/.exec(name)?.[1] ?? [])
  .sort();

/** Writes `loaders.ts` unless it has exactly these languages: bundlers follow only imports whose paths are in the code. */
export function writeLoaders() {
  const lines = languages.map((code) => `  ${code}: () => import("./${code}.js"),\n`);
  const text = `/** Written by the build from the files of this folder. */
import type { Messages } from "./messages.js";

export const loaders: Record<string, () => Promise<Record<string, Messages>>> = {
${lines.join("")}};
`;
  const file = path.join(folder, "loaders.ts");
  if (readFileSync(file, "utf8") !== text) writeFileSync(file, text);
}

/** The same loaders for the standalone file: languages are files next to it. */
export const standaloneLoaders = `export const loaders = Object.fromEntries(
  ${JSON.stringify(languages.join(" "))}.split(" ").map((code) => [
    code, () => import(/* @vite-ignore */ \`./giftcard-pay.\${code}.js\`)
  ]));`;
