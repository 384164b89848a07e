import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { changeStorefront, type StorefrontOptions } from "@giftcard-pay/checkout/plugin";

/** The folder is not the starter, or the command line is wrong. */
export class NotAStorefrontError extends Error {}

const PACKAGE = path.join(__dirname, "../..");
const SITE = "src/app/gift-cards";
const CHECKOUT = "src/app/checkout";
const PACKAGES = ["@giftcard-pay/widget", "@lit/react"];

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
 * @returns as `changeStorefront`
 * @throws {NotAStorefrontError}
 */
export function addToStorefront(folder: string, options: StorefrontOptions) {
  const isStarter = ["package.json", `${CHECKOUT}/checkout-flow.tsx`].every((file) =>
    existsSync(path.join(folder, file)),
  );
  if (!isStarter)
    throw new NotAStorefrontError(
      `${folder} isn't Vendure's Next.js starter: it has no package.json with ${CHECKOUT}/checkout-flow.tsx. Give its folder.`,
    );
  return changeStorefront(folder, { files: ownFiles(), imports: IMPORTS, packages: PACKAGES }, options);
}

/** Returns our files. The transport is the plugin's own, so that the storefront needs no package of the server. */
function ownFiles() {
  const source = path.join(PACKAGE, "nextjs");
  const names = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(source, path.join(entry.parentPath, entry.name)));
  const files = names.map((name) => [name, path.join(source, name)] as const);
  return [...files, ["shop-api.ts", path.join(PACKAGE, "src/storefront.mts")] as const].map(([name, from]) => ({
    file: `${SITE}/${name.replaceAll(path.sep, "/")}`,
    text: readFileSync(from, "utf8"),
  }));
}
