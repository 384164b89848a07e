/** Writes the files that are generated from the sources. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pageWithOptions, pluginsWithOptions } from "./docs/options-table.mjs";
import { command, root, runSubcommand } from "./lib/command.mjs";

const HELP = `Writes the files that are generated from the sources.

  npm run docs              the plugins' tables of options
  npm run docs -- --check   fails if one is out of date, or if an export or an option has no comment; writes nothing
  npm run docs -- schema    the schema files: the tables that the migrations create
  npm run docs -- sizes     the packages' download sizes

schema and sizes take --check too. \`npm run site\` builds the API reference.
`;

const options = /** @type {const} */ ({ check: { type: "boolean" } });

if (!(await runSubcommand(["schema", "sizes"], new URL("docs/", import.meta.url))))
  await command({ help: HELP, options }, async ({ values, signal, say }) => {
    const tables = await Promise.all(pluginsWithOptions.map(pageWithOptions));
    const faults = tables.flatMap((table) => table.faults);
    if (values.check) {
      const { documentApi } = await import("./docs/api.mjs");
      faults.push(...(await documentApi({ say, signal })).faults);
    }
    if (faults.length > 0) throw new Error(faults.join("\n"));
    for (const { file, text } of tables) {
      if ((await readFile(path.join(root, file), "utf8")) === text) continue;
      if (values.check) throw new Error(`${file} differs from the options. Run npm run docs.`);
      await writeFile(path.join(root, file), text);
      say(`${file}: written`);
    }
  });
