import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import path from "node:path";

interface Options {
  readonly remove: boolean;
  readonly dryRun: boolean;
}

/** The result for one file of the storefront. Its path is relative to the storefront's folder. */
interface Step {
  readonly file: string;
  /** `kept`: a file of this name exists with other text. `by_hand`: the line isn't as expected. */
  readonly done: "written" | "removed" | "edited" | "already" | "kept" | "by_hand";
  /** The existing line, and the one to replace it with. */
  readonly line?: { readonly from: string; readonly to: string };
}

/** The folder is not the starter, or the command line is wrong. */
export class NotAStorefrontError extends Error {}

const PACKAGE = path.join(__dirname, "../..");
const SITE = "src/app/gift-cards";
const CHECKOUT = "src/app/checkout";
const PACKAGES = ["@giftcard-pay/widget", "@lit/react"];

const OTHER_FILE = "There is a file of this name with other text. Move it away and run this again.";
const CHANGED = "This file was changed since it was added. Delete it yourself.";

/** Imports of the starter that are replaced by ours, which wrap what was imported. */
const IMPORTS = [
  [`${CHECKOUT}/checkout-flow.tsx`, "PaymentStep", "./steps/payment-step", "payment-step"],
  [`${CHECKOUT}/checkout-flow.tsx`, "ReviewStep", "./steps/review-step", "review-step"],
  [`${CHECKOUT}/checkout-flow.tsx`, "OrderSummary", "./order-summary", "order-summary"],
  [`${CHECKOUT}/steps/payment-step.tsx`, "{ useCheckout }", "../checkout-provider", "use-checkout"],
  [`${CHECKOUT}/steps/review-step.tsx`, "{ useCheckout }", "../checkout-provider", "use-checkout"],
  [`${CHECKOUT}/steps/review-step.tsx`, "{ placeOrder as placeOrderAction }", "../actions", "place-order"],
  ["src/app/order-confirmation/[code]/page.tsx", "{OrderConfirmation}", "./order-confirmation", "order-confirmation"],
].map(([file, name, from, to]) => ({
  file: String(file),
  before: `import ${name} from '${from}';`,
  after: `import ${name} from '@/app/gift-cards/${to}';`,
}));

/**
 * Adds gift cards to Vendure's Next.js starter, or removes them.
 *
 * @returns the result as text and for JSON, and whether nothing is left to do by hand
 * @throws {NotAStorefrontError}
 */
export function addToStorefront(folder: string, options: Options) {
  const root = path.resolve(folder);
  const isStarter = ["package.json", `${CHECKOUT}/checkout-flow.tsx`].every((file) =>
    existsSync(path.join(root, file)),
  );
  if (!isStarter)
    throw new NotAStorefrontError(
      `${folder} isn't Vendure's Next.js starter: it has no package.json with ${CHECKOUT}/checkout-flow.tsx. Give its folder.`,
    );
  const steps = [...(options.remove ? removeFiles : addFiles)(root, options), ...replaceImports(root, options)];
  const command = packagesLine(root, options);
  return {
    text: textOf(steps, command, options),
    result: { steps, ...(options.remove ? { uninstall: command } : { install: command }) },
    isDone: !steps.some(({ done }) => done === "kept" || done === "by_hand"),
  };
}

/** Returns our files. The transport is the plugin's own, so that the storefront needs no package of the server. */
function ownFiles(root: string): { file: string; target: string; text: string }[] {
  const source = path.join(PACKAGE, "nextjs");
  const names = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(source, path.join(entry.parentPath, entry.name)));
  const files = names.map((name) => [name, path.join(source, name)] as const);
  return [...files, ["shop-api.ts", path.join(PACKAGE, "src/storefront.mts")] as const].map(([name, from]) => {
    const file = `${SITE}/${name.replaceAll(path.sep, "/")}`;
    return { file, target: path.join(root, file), text: readFileSync(from, "utf8") };
  });
}

function addFiles(root: string, { dryRun }: Options): Step[] {
  return ownFiles(root).map(({ file, target, text }): Step => {
    if (existsSync(target)) return { file, done: readFileSync(target, "utf8") === text ? "already" : "kept" };
    if (!dryRun) {
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    return { file, done: "written" };
  });
}

function removeFiles(root: string, { dryRun }: Options): Step[] {
  const files = ownFiles(root);
  const steps = files.map(({ file, target, text }): Step => {
    if (!existsSync(target)) return { file, done: "already" };
    if (readFileSync(target, "utf8") !== text) return { file, done: "kept" };
    if (!dryRun) unlinkSync(target);
    return { file, done: "removed" };
  });
  // The deepest folder first.
  const folders = [...new Set(files.map(({ target }) => path.dirname(target)))].sort((a, b) => b.length - a.length);
  for (const folder of folders)
    if (!dryRun && existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
  return steps;
}

/** Points the storefront's imports to our files; with `remove`, back to its own. */
function replaceImports(root: string, { dryRun, remove }: Options): Step[] {
  return IMPORTS.map(({ file, before, after }): Step => {
    const target = path.join(root, file);
    const line = remove ? { from: after, to: before } : { from: before, to: after };
    const text = existsSync(target) ? readFileSync(target, "utf8") : "";
    const isOurs = text.includes(after.slice(after.indexOf("'")));
    if (remove ? !isOurs : isOurs) return { file, done: "already" };
    if (text.split(line.from).length !== 2) return { file, done: "by_hand", line };
    if (!dryRun)
      writeFileSync(
        target,
        text.replace(line.from, () => line.to),
      );
    return { file, done: "edited", line };
  });
}

/** Returns the command that installs the missing packages, or with `remove` uninstalls the present ones, by the lockfile. */
function packagesLine(root: string, { remove }: Options): string | undefined {
  const { dependencies = {} } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const packages = PACKAGES.filter((name) => name in dependencies === remove).join(" ");
  if (!packages) return undefined;
  for (let folder = root; ; folder = path.dirname(folder)) {
    const has = (file: string) => existsSync(path.join(folder, file));
    if (has("pnpm-lock.yaml")) return `pnpm ${remove ? "remove" : "add"} ${packages}`;
    if (has("yarn.lock")) return `yarn ${remove ? "remove" : "add"} ${packages}`;
    if (has("package-lock.json") || folder === path.dirname(folder))
      return `npm ${remove ? "uninstall" : "install"} ${packages}`;
  }
}

function textOf(steps: readonly Step[], command: string | undefined, { dryRun, remove }: Options): string {
  const words = {
    written: dryRun ? "would write  " : "written      ",
    removed: dryRun ? "would remove " : "removed      ",
    edited: dryRun ? "would edit   " : "edited       ",
    already: "already so   ",
    kept: "LEFT AS IT IS",
    by_hand: "BY HAND      ",
  };
  const lines = steps.flatMap(({ file, done, line }) => [
    `${words[done]}  ${file}`,
    ...(done === "kept" ? [`    ${remove ? CHANGED : OTHER_FILE}`] : []),
    ...(done === "by_hand" && line ? ["    In place of", `      ${line.from}`, "    write", `      ${line.to}`] : []),
  ]);
  if (command) lines.push("", "Then, in the storefront's folder:", `  ${command}`);
  return `${lines.join("\n")}\n`;
}
