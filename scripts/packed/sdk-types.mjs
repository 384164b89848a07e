/** The oldest and the newest of each SDK that the adapters' `peerDependencies` admit, and majors between whose types differ. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { runNpm } from "./pack.mjs";

/** Each row is installed together. */
export const sdks = [
  ["stripe@13.0.0", "@mollie/api-client@4.3.0"],
  ["stripe@19", "@mollie/api-client@4"],
  ["stripe@22", "@mollie/api-client@4"],
  ["stripe@latest", "@mollie/api-client@latest"],
];

const program = `import type { MollieClient } from "@mollie/api-client";
import type Stripe from "stripe";
import type { CheckoutOptions } from "@giftcard-pay/checkout";
import { mollie } from "@giftcard-pay/checkout/mollie";
import { stripe, stripeCheckout } from "@giftcard-pay/checkout/stripe";
const returnUrl = (orderId: string) => "https://shop.example/" + orderId;
export const methods = (client: Stripe, mollieClient: MollieClient): CheckoutOptions["remainder"][] => [
  stripe({ client, webhookSecret: "whsec_x", parameters: () => ({ receipt_email: "ada@example.com" }), returnUrl }),
  stripeCheckout({ client, webhookSecret: "whsec_x", parameters: () => ({ locale: "nl" }), returnUrl }),
  mollie({ client: mollieClient, webhookUrl: "https://shop.example/mollie", parameters: () => ({}), returnUrl }),
];
`;

/**
 * Compiles a program that passes an SDK's client to each adapter, as an ES module and as CommonJS, with each of `sdks`.
 *
 * @param {object} options
 * @param {string} options.folder a project in which the packages, TypeScript and `@types/node` are installed
 * @param {string} options.node runs npm and the compiler
 * @param {AbortSignal} [options.signal]
 * @throws with the compiler's errors
 */
export async function checkSdkTypes({ folder, node, signal }) {
  const early = signal ? { signal } : {};
  const files = ["sdks.mts", "sdks.cts"].map((name) => path.join(folder, name));
  for (const file of files) await writeFile(file, program);
  const tsc = path.join(folder, "node_modules", "typescript", "bin", "tsc");
  const flags = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--types",
    "node",
    "--target",
    "es2022",
    "--module",
    "nodenext",
  ];
  for (const some of sdks) {
    await runNpm(["install", "--no-save", ...some], { cwd: folder, node, ...early });
    await promisify(execFile)(node, [tsc, ...flags, ...files], { cwd: folder, ...early }).catch((error) => {
      throw new Error(`${some.join(" and ")}:\n${error.stdout || error}`);
    });
  }
}
