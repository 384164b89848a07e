import { Inject, type OnModuleInit } from "@nestjs/common";
import { APP_INTERCEPTOR } from "@nestjs/core";
import { ConfigService, PluginCommonModule, type RuntimeVendureConfig, type Type, VendurePlugin } from "@vendure/core";
import { AdminResolver } from "./api/admin-resolver.js";
import { adminSchema, giftcardPermission } from "./api/admin-schema.js";
import { PaymentResolver } from "./api/payment-resolver.js";
import { SettledOrderInterceptor } from "./api/settled-order.js";
import { ShopResolver } from "./api/shop-resolver.js";
import { shopSchema } from "./api/shop-schema.js";
import { GiftcardCheckout } from "./checkout.js";
import { SETTINGS } from "./constants.js";
import { Gates } from "./gates.js";
import { createHandler, createOrderProcess, createPaymentProcess, refundProcess } from "./handler.js";
import { Money } from "./money.js";
import { type GiftcardPluginOptions, readOptions, type Settings } from "./options.js";
import { Orders } from "./orders.js";
import { CardPayments } from "./payments.js";
import { Placement } from "./placement.js";
import { Recovery, recoveryTask } from "./recovery-task.js";
import { CardRefunds } from "./refunds.js";
import { checkConfig } from "./requirements.js";
import { Returns } from "./returns.js";
import { Settlement } from "./settlement.js";
import { StripeWebhookInterceptor } from "./stripe-webhook.js";
import { VendureCalls } from "./vendure-calls.js";

/** Returns the options that have a list, and the list's name. @param path such as `orderOptions.process` */
function listOf(config: object, path: string): [Record<string, unknown[] | undefined>, string] {
  const [group = "", list = ""] = path.split(".");
  return [(config as Record<string, Record<string, unknown[]>>)[group] ?? {}, list];
}

/**
 * Gift cards for Vendure: a payment method whose cards pay a part of an order or all of it. Any other method pays the
 * remainder.
 */
@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: "^3.5.1",
  providers: [
    { provide: SETTINGS, useFactory: () => GiftcardPlugin.settings },
    { provide: APP_INTERCEPTOR, useClass: SettledOrderInterceptor },
    { provide: APP_INTERCEPTOR, useExisting: StripeWebhookInterceptor },
    ...[Money, Orders, Returns, GiftcardCheckout, Gates, VendureCalls, CardPayments, CardRefunds],
    ...[Placement, Settlement, Recovery, StripeWebhookInterceptor],
  ],
  adminApiExtensions: { schema: adminSchema, resolvers: [AdminResolver, PaymentResolver] },
  shopApiExtensions: { schema: shopSchema, resolvers: [ShopResolver, PaymentResolver] },
  exports: [GiftcardCheckout, Orders, Gates],
  // Vendure's build of the dashboard reads this from the compiled file, so it is relative to `dist`.
  dashboard: "../src/dashboard/index.tsx",
  configuration: (config) => GiftcardPlugin.configure(config),
})
export class GiftcardPlugin implements OnModuleInit {
  private static given: Settings | undefined;
  /** The parts that the plugin adds to Vendure's configuration, by the list's path. */
  private static parts: Readonly<Record<string, unknown>> = {};

  /** @internal */
  constructor(@Inject(ConfigService) private readonly config: ConfigService) {}

  /**
   * Sets the options.
   *
   * @throws {TypeError} naming an option that is missing, invalid or unknown
   */
  static init(options: GiftcardPluginOptions): Type<GiftcardPlugin> {
    GiftcardPlugin.given = readOptions(options);
    return GiftcardPlugin;
  }

  /** The options with their defaults. */
  static get settings(): Settings {
    if (!GiftcardPlugin.given) throw new Error("GiftcardPlugin: call GiftcardPlugin.init with the options.");
    return GiftcardPlugin.given;
  }

  /** Adds the payment method, the processes and the task to Vendure's configuration. */
  static configure(config: RuntimeVendureConfig): RuntimeVendureConfig {
    const { settings } = GiftcardPlugin;
    checkConfig(config);
    GiftcardPlugin.parts = {
      "paymentOptions.paymentMethodHandlers": createHandler(settings),
      "paymentOptions.process": createPaymentProcess(),
      "paymentOptions.refundProcess": refundProcess,
      "orderOptions.process": createOrderProcess(),
      "schedulerOptions.tasks": recoveryTask(settings),
      "authOptions.customPermissions": giftcardPermission,
    };
    // New lists: those of the shop's own configuration stay as they are.
    for (const [name, part] of Object.entries(GiftcardPlugin.parts)) {
      const [options, list] = listOf(config, name);
      options[list] = [...(options[list] ?? []), part];
    }
    return config;
  }

  /** @throws {Error} if another plugin has replaced a list with a part that an order's money depends on */
  onModuleInit(): void {
    for (const [name, part] of Object.entries(GiftcardPlugin.parts)) {
      const [options, list] = listOf(this.config, name);
      if (!options[list]?.includes(part))
        throw new Error(
          `GiftcardPlugin: another plugin has replaced ${name}. It has to add to the list, or come before GiftcardPlugin.`,
        );
    }
  }
}
