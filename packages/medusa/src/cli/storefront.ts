import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { CommandFailure } from "./failure.js";
import { changeStorefront } from "./storefront-files.js";

/** Our own files, which the build copies next to the server. */
const SOURCE = path.join(__dirname, "../../nextjs");

const SITE = "src/modules/gift-cards";

/** The module from which a storefront imports its headings and buttons: its own files since 2026, Medusa's package before. */
const UI = { own: "@modules/common/components/ui", package: "@medusajs/ui" };

/** One import in each of these files of the starter is replaced by ours, which wraps what was imported. */
const IMPORTS = [
  {
    file: "src/modules/checkout/templates/checkout-form/index.tsx",
    name: "Payment",
    from: "@modules/checkout/components/payment",
    to: "@modules/gift-cards/payment",
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
It adds ${SITE} and points one import in each of ${IMPORTS.length} files of the storefront to it.
If the text of a file isn't as expected, the file is left as it is, and the command prints what to write there. It is safe
to repeat. With --remove it undoes all this.

Exit code 1 means that something is left to do by hand.`;

/** `giftcard-medusa storefront`: adds gift cards to a checkout of Medusa's Next.js storefront. */
export function storefrontCommand(): Command {
  return new Command("storefront")
    .description("Add gift cards to a checkout of Medusa's Next.js storefront")
    .argument("<folder>", "the storefront's folder, the one with its package.json")
    .option("--remove", "remove what this command has added")
    .option("--dry-run", "show what would be done, and change nothing")
    .option("--json", "print JSON")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", HELP)
    .action((folder: string, { remove = false, dryRun = false, json = false }: Record<string, boolean>) => {
      checkStorefront(folder);
      const change = { files: ownFiles(folder), imports: IMPORTS, packages: PACKAGES };
      const { text, result, isDone } = changeStorefront(folder, change, { remove, dryRun });
      process.stdout.write(json ? `${JSON.stringify(result)}\n` : text);
      if (!isDone) process.exitCode = 1;
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
