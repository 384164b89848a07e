import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { CommandFailure } from "./failure.js";

/** Our own files, which the build copies next to the server. */
const SOURCE = path.join(__dirname, "../../nextjs");

const SITE = "src/modules/gift-cards";

/** The module from which a storefront imports its headings and buttons: its own files since 2026, Medusa's package before. */
const UI = { own: "@modules/common/components/ui", package: "@medusajs/ui" };

/** These imports in the starter's files are replaced by ours, which wrap what was imported. */
const IMPORTS = [
  {
    file: "src/modules/checkout/templates/checkout-form/index.tsx",
    name: "Payment",
    from: "@modules/checkout/components/payment",
    to: "@modules/gift-cards/payment",
  },
  {
    file: "src/modules/checkout/templates/checkout-form/index.tsx",
    name: "Review",
    from: "@modules/checkout/components/review",
    to: "@modules/gift-cards/review",
  },
  {
    file: "src/modules/checkout/templates/checkout-summary/index.tsx",
    name: "CartTotals",
    from: "@modules/common/components/cart-totals",
    to: "@modules/gift-cards/cart-totals",
  },
  {
    file: "src/modules/order/templates/order-completed-template.tsx",
    name: "PaymentDetails",
    from: "@modules/order/components/payment-details",
    to: "@modules/gift-cards/order-payments",
  },
  {
    file: "src/app/[countryCode]/(main)/account/@dashboard/orders/details/[id]/page.tsx",
    name: "OrderDetailsTemplate",
    from: "@modules/order/templates/order-details-template",
    to: "@modules/gift-cards/order-details",
  },
  {
    file: "src/modules/order/templates/order-details-template.tsx",
    name: "OrderSummary",
    from: "@modules/order/components/order-summary",
    to: "@modules/gift-cards/order-summary",
  },
  {
    file: "src/modules/checkout/components/payment-button/index.tsx",
    name: "{ placeOrder }",
    from: "@lib/data/cart",
    to: "@modules/gift-cards/place-order",
  },
].map(({ file, name, from, to }) => ({
  file,
  before: `import ${name} from "${from}"`,
  after: `import ${name} from "${to}"`,
}));

const PACKAGES = ["@giftcard-pay/widget", "@lit/react"];

const HELP = `
Run it in your Medusa's folder, where the plugin is installed, with the storefront's folder as its argument.
It adds ${SITE} and points ${IMPORTS.length} imports in the storefront's files to it.
If the text of a file isn't as expected, the file is left as it is, and the command prints what to write there. It is safe
to repeat. Commit the storefront first: your version control then shows the changes, and undoes them.

Exit code 1 means that something is left to do by hand.`;

export function storefrontCommand(): Command {
  return new Command("storefront")
    .description("Add gift cards to a checkout of Medusa's Next.js storefront")
    .argument("<folder>", "the storefront's folder, the one with its package.json")
    .option("--json", "print JSON")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", HELP)
    .action((folder: string, { json = false }: { json?: boolean }) => {
      checkStorefront(folder);
      const root = path.resolve(folder);
      const steps = [...writeFiles(root), ...replaceImports(root)];
      const install = installLine(root);
      process.stdout.write(json ? `${JSON.stringify({ steps, install })}\n` : textOf(steps, install));
      if (steps.some(({ done }) => done === "kept" || done === "by_hand")) process.exitCode = 1;
    });
}

/** @throws {CommandFailure} if a folder isn't Medusa's Next.js storefront */
function checkStorefront(folder: string): void {
  const isStorefront = ["package.json", "src/modules/checkout"].every((file) => existsSync(path.join(folder, file)));
  if (isStorefront) return;
  throw new CommandFailure(
    `${folder} isn't Medusa's Next.js storefront: it has no package.json with src/modules/checkout beside it. Give its folder, such as apps/storefront.`,
    2,
  );
}

/** Returns our files with the text that they have in this storefront. */
function ownFiles(folder: string) {
  const ui = existsSync(path.join(folder, "src/modules/common/components/ui")) ? UI.own : UI.package;
  return readdirSync(SOURCE).map((name) => ({
    file: `${SITE}/${name}`,
    text: readFileSync(path.join(SOURCE, name), "utf8").replace(UI.own, ui),
  }));
}

/** The result for one file of the storefront. */
interface Step {
  readonly file: string;
  /** `kept`: a file of this name exists with other text. `by_hand`: the line isn't as expected. */
  readonly done: "written" | "edited" | "already" | "kept" | "by_hand";
  /** The existing line, and the one to replace it with. */
  readonly line?: { readonly from: string; readonly to: string };
}

/** Writes our files. */
function writeFiles(root: string): Step[] {
  mkdirSync(path.join(root, SITE), { recursive: true });
  return ownFiles(root).map(({ file, text }): Step => {
    const target = path.join(root, file);
    if (existsSync(target)) return { file, done: readFileSync(target, "utf8") === text ? "already" : "kept" };
    writeFileSync(target, text);
    return { file, done: "written" };
  });
}

/** Returns the module that a line imports, with its quotes. */
const moduleOf = (line: string): string => /(["']).*\1/.exec(line)?.[0] ?? line;

/** Points the storefront's imports to our files. */
function replaceImports(root: string): Step[] {
  return IMPORTS.map(({ file, before: from, after: to }): Step => {
    const target = path.join(root, file);
    const text = existsSync(target) ? readFileSync(target, "utf8") : "";
    if (text.includes(moduleOf(to))) return { file, done: "already" };
    if (text.split(from).length !== 2) return { file, done: "by_hand", line: { from, to } };
    const changed = text.replace(from, () => to);
    writeFileSync(target, changed);
    return { file, done: "edited", line: { from, to } };
  });
}

/** Returns the command that installs the missing packages, by the lockfile in the folder or above it. */
function installLine(root: string): string | undefined {
  const { dependencies = {} } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const names = PACKAGES.filter((name) => !(name in dependencies)).join(" ");
  if (!names) return undefined;
  for (let folder = root; ; folder = path.dirname(folder)) {
    const has = (file: string) => existsSync(path.join(folder, file));
    if (has("pnpm-lock.yaml")) return `pnpm add ${names}`;
    if (has("yarn.lock")) return `yarn add ${names}`;
    if (has("package-lock.json") || folder === path.dirname(folder)) return `npm install ${names}`;
  }
}

const WORDS: Record<Step["done"], string> = {
  written: "written      ",
  edited: "edited       ",
  already: "already so   ",
  kept: "LEFT AS IT IS",
  by_hand: "BY HAND      ",
};

const OTHER_FILE = "    There is a file of this name with other text. Move it away and run this again.";

function textOf(steps: readonly Step[], install: string | undefined): string {
  const lines = steps.flatMap(({ file, done, line }) => [
    `${WORDS[done]}  ${file}`,
    ...(done === "kept" ? [OTHER_FILE] : []),
    ...(done === "by_hand" && line ? ["    In place of", `      ${line.from}`, "    write", `      ${line.to}`] : []),
  ]);
  if (install) lines.push("", "Then, in the storefront's folder:", `  ${install}`);
  return `${lines.join("\n")}\n`;
}
