/** Adds gift cards to Medusa's Next.js storefront and buys there in a browser. */
import { existsSync } from "node:fs";
import path from "node:path";
import { build } from "../build.mjs";
import { command, loadTypeScript, UsageError } from "../lib/command.mjs";

const HELP = `Adds gift cards to a copy of Medusa's Next.js storefront, as docs/nextjs.md says, builds it, and buys there in a
browser: card and method in either order, two cards, a covered cart, a wrong PIN, reloads, and the pages of the order.

  git clone https://github.com/medusajs/dtc-starter
  npm run prove -- nextjs dtc-starter/apps/storefront

  --pictures <folder>   saves screenshots of the pages there, also of the page where a purchase failed
  --only <text>         only purchases whose name contains this
  --in <folder>         works in this folder and keeps it: the next run takes half as long

Takes five minutes, and needs the npm registry. Exits with 1 if a purchase fails.
`;

const options = /** @type {const} */ ({
  pictures: { type: "string" },
  only: { type: "string" },
  in: { type: "string" },
});

await command({ help: HELP, options, positionals: true }, async ({ values, positionals, signal, say }) => {
  const [source] = positionals;
  const { pictures, only } = values;
  const workshop = values.in && path.resolve(values.in);
  if (!source || positionals.length > 1) throw new UsageError("Give the folder of exactly one storefront.");
  if (!existsSync(path.join(source, "package.json"))) throw new UsageError(`There is no package.json in ${source}.`);
  await build(["service", "widget", "store"], { progress: say, signal });
  /** @type {typeof import("../../test/prove/nextjs/run.js")} */
  const { tryStorefront } = await loadTypeScript("test/prove/nextjs/run.ts");
  const wrong = await tryStorefront({ source, workshop, pictures, only, say, signal });
  if (signal.aborted) return;
  say(wrong.length > 0 ? `${wrong.length} failed: ${wrong.join("; ")}` : "all passed");
  return wrong.length > 0 ? 1 : 0;
});
