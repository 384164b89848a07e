/** Records the sizes of the packed packages, so that no growth goes unnoticed. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { writeReadme } from "../../packages/widget/scripts/readme.mjs";
import { recordSizes } from "../../packages/widget/scripts/sizes.mjs";
import { build } from "../build.mjs";
import { changedSizes } from "../check/sizes.mjs";
import { command, root } from "../lib/command.mjs";
import { packPackages, published } from "../packed/pack.mjs";

const FILE = "scripts/check/sizes.json";
const HELP = `Writes the download size of each package, in kB, into ${FILE}, and the bytes of the widget's
standalone file into packages/widget/test/sizes.json and its README. Review the changes, then commit them.

  npm run docs -- sizes           writes the sizes
  npm run docs -- sizes --check   fails if a package's size differs by more than the tolerance; writes nothing
`;

const options = /** @type {const} */ ({ check: { type: "boolean" } });

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  await build(published, { progress: say, signal });
  const scratch = await mkdtemp(path.join(os.tmpdir(), "giftcard-sizes-"));
  try {
    /** @type {Record<string, number>} */
    const sizesKb = {};
    for (const [name, tarball] of Object.entries(await packPackages(published, scratch, signal)))
      sizesKb[name] = Math.round((await stat(tarball)).size / 1000);
    const file = path.join(root, FILE);
    if (!values.check) {
      await writeFile(file, `${JSON.stringify(sizesKb, undefined, 2)}\n`);
      await recordSizes();
      return await writeReadme();
    }
    const changed = changedSizes(JSON.parse(await readFile(file, "utf8")), sizesKb);
    if (changed.length > 0) throw new Error(`${changed.join("\n")}\nIs that meant? Then run npm run docs -- sizes.`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});
