import type { ConfigModule } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { PACKAGE } from "./names.js";
import type { GiftcardOptions } from "./options.js";

export type { GiftcardOptions } from "./options.js";

/** The parts of Medusa's configuration that include the plugin. */
type Config = Pick<ConfigModule, "plugins" | "modules">;

interface PaymentModule {
  dependencies?: string[];
  options?: { providers?: object[] };
}

/**
 * Adds gift cards to a Medusa configuration: the plugin with its module, and the payment provider. Keeps everything
 * else.
 * @param config the result of `defineConfig`
 * @param options checked when Medusa starts, so that `medusa build` needs no secrets
 * @throws {TypeError} if the payment module is switched off, or Medusa is too old
 */
export function withGiftcard<C extends Config>(config: C, options: GiftcardOptions): C {
  checkMedusa();
  const modules: Record<string, unknown> = { ...config.modules };
  const payment = modules[Modules.PAYMENT] ?? {};
  if (typeof payment !== "object" || payment === null || ("disable" in payment && payment.disable)) {
    throw new TypeError("withGiftcard needs Medusa's payment module, which this configuration switches off.");
  }
  const { dependencies = [], options: paymentOptions = {} } = payment as PaymentModule;
  modules[Modules.PAYMENT] = {
    resolve: "@medusajs/medusa/payment",
    ...payment,
    dependencies: [...dependencies, "giftcard"],
    options: {
      ...paymentOptions,
      // The provider finds the module by its name, so it needs no options. Medusa writes into an options object.
      providers: [
        ...(paymentOptions.providers ?? []),
        { resolve: `${PACKAGE}/providers/giftcard`, id: "giftcard", options: {} },
      ],
    },
  };
  const plugins = [...(config.plugins ?? []), { resolve: PACKAGE, options: structuredClone(options) as never }];
  return { ...config, modules, plugins };
}

/**
 * The oldest release of Medusa that the plugin works with, as in the package's peer dependencies. If one attempt to
 * complete a cart fails late, older ones refund the captured payment by which another attempt has placed the order.
 */
export const OLDEST_MEDUSA = "2.15.5";

/**
 * Rejects a Medusa that is too old. npm rejects it at install; other package managers only warn.
 * @throws {TypeError} if it is older than `OLDEST_MEDUSA`
 */
export function checkMedusa(release: string = installedMedusa()): void {
  // Compare numbers, since 2.9 is older than 2.15.
  if (release.localeCompare(OLDEST_MEDUSA, "en", { numeric: true }) >= 0) return;
  const what = `@giftcard-pay/medusa needs Medusa ${OLDEST_MEDUSA} or newer; this store has ${release}.`;
  throw new TypeError(`${what} Upgrade all packages of Medusa (@medusajs/…) together.`);
}

const installedMedusa = (): string => (require("@medusajs/medusa/package.json") as { version: string }).version;
