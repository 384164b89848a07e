/** Takes screenshots of every state, in every view, in each browser that is installed. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { command, root, UsageError } from "../../../scripts/lib/command.mjs";
import { engines, whyMissing } from "../../../scripts/lib/driven-browser.mjs";
import { serveGallery } from "./serve.mjs";
import { openView, views } from "./tour.mjs";

const HELP = `Takes screenshots of the gallery. Keys and touch bring it into every state.

  node packages/widget/gallery/screenshots.mjs                every view, in every installed browser
  node packages/widget/gallery/screenshots.mjs narrow WebKit  only these views and browsers
  node packages/widget/gallery/screenshots.mjs --to FOLDER    node_modules/.cache/giftcard-pay/screenshots by default

Views: ${Object.keys(views).join(", ")}
Browsers: ${engines.join(", ")}
Also: npm run demo -- --gallery, which shows the gallery
`;

const options = /** @type {const} */ ({
  to: { type: "string", default: path.join(root, "node_modules", ".cache", "giftcard-pay", "screenshots") },
});

await command({ help: HELP, options, positionals: true }, async ({ values, positionals, signal, say }) => {
  const names = /** @type {import("./tour.mjs").ViewName[]} */ (Object.keys(views));
  const wrong = positionals.filter((word) => ![...names, ...engines].some((known) => known === word));
  if (wrong.length > 0) throw new UsageError(`Unknown: ${wrong.join(", ")}.`);
  /** @template {string} Known @param {readonly Known[]} all */
  const chosen = (all) => {
    const named = all.filter((known) => positionals.includes(known));
    return named.length > 0 ? named : all;
  };
  await mkdir(values.to, { recursive: true });
  const gallery = await serveGallery();
  for (const engine of chosen(engines)) {
    const missing = whyMissing(engine);
    if (missing) say(missing);
    for (const name of missing ? [] : chosen(names)) {
      if (signal.aborted) break;
      const browser = await openView(gallery.url, engine, name);
      const file = path.join(values.to, `${engine.toLowerCase()}-${name}.png`);
      await writeFile(file, await browser.screenshot());
      await browser.close();
      say(file);
    }
  }
  await gallery.close();
});
// The simulated shop still has a slow response pending, which would keep the process alive.
process.exit();
