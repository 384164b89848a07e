import { parseArgs } from "node:util";
import { addToStorefront, NotAStorefrontError } from "./storefront.js";

const HELP = `Usage: giftcard-vendure storefront <folder> [options]

Adds gift cards to a checkout of Vendure's Next.js starter. Run it in your Vendure's folder, where the plugin is installed,
with the storefront's folder as its argument.

It adds src/app/gift-cards, and points a few imports of the storefront to it. If the text of a file isn't as expected, the
file is left as it is, and the command prints what to write there. It is safe to repeat.

  --remove    remove what this command has added
  --dry-run   show what would be done, and change nothing
  --json      print JSON
  --help      show this help

Exit codes:
  0  done
  1  something is left to do by hand
  2  the command line is wrong
`;

const options = {
  remove: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

function main(): number {
  const isJson = process.argv.includes("--json");
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [name, folder, ...more] = positionals;
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    if (name !== "storefront" || !folder || more.length > 0)
      throw new NotAStorefrontError(
        "Give the command and the storefront's folder: giftcard-vendure storefront <folder>",
      );
    const { text, result, isDone } = addToStorefront(folder, { remove: values.remove, dryRun: values["dry-run"] });
    process.stdout.write(isJson ? `${JSON.stringify(result)}\n` : text);
    return isDone ? 0 : 1;
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    if (!(error instanceof NotAStorefrontError) && !code?.startsWith("ERR_PARSE_ARGS")) throw error;
    process.stderr.write(`error: ${message}\n`);
    if (isJson) process.stdout.write(`${JSON.stringify({ error: message, exit_code: 2 })}\n`);
    return 2;
  }
}

process.exitCode = main();
