import { type Checkout, createCheckout } from "@giftcard-pay/checkout";
import type { Purchase } from "@giftcard-pay/checkout/store";
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from "@nestjs/common";
import { ModuleRef } from "@nestjs/core";
import { Injector, TransactionalConnection } from "@vendure/core";
import { logFailure, SETTINGS } from "./constants.js";
import { clientOf, type OpenedStore, type Settings } from "./options.js";
import { Orders } from "./orders.js";
import { openStore } from "./store.js";

/** The code of a step that waits for the end of Vendure's transaction. */
const LATER = "later";

/** The checkout, opened when Vendure starts. Vendure itself collects the remainder. */
@Injectable()
export class GiftcardCheckout implements OnModuleInit, OnModuleDestroy {
  #calls: Checkout | undefined;
  #store: OpenedStore | undefined;
  /** @internal Called after this process has decided a purchase. */
  onDecided: (orderCode: string) => void = () => {};

  /** @internal */
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(TransactionalConnection) private readonly connection: TransactionalConnection,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(ModuleRef) private readonly module: ModuleRef,
  ) {}

  /** @internal */
  async onModuleInit(): Promise<void> {
    this.#store = await openStore(this.settings, this.connection.rawConnection.options);
    this.#calls = this.open(this.#store);
  }

  /** @internal */
  async onModuleDestroy(): Promise<void> {
    await this.#store?.close?.();
  }

  /** The checkout's calls. */
  get calls(): Checkout {
    if (!this.#calls) throw new Error("GiftcardPlugin: Vendure has not started yet.");
    return this.#calls;
  }

  /** @internal Reads the purchase of an order that has one. */
  async read(orderCode: string): Promise<Purchase> {
    const purchase = await this.calls.read(orderCode);
    if (!purchase) throw new Error("The order has no gift card purchase.");
    return purchase;
  }

  private open(store: OpenedStore): Checkout {
    const { environment, sealingKeys, maxCards, leastRemainderCents, charges, guessLimits } = this.settings;
    const { pendingRemainderMs, leaseMs, closePayment } = this.settings;
    const { journal, purchases } = store;
    return createCheckout({
      ...{ environment, sealingKeys, maxCards, leastRemainderCents, pendingRemainderMs, leaseMs },
      ...(charges && { charges }),
      ...(guessLimits && { guessLimits }),
      issuer: clientOf(this.settings),
      store: { journal, purchases },
      remainder: {
        // Vendure collects it later.
        authorize: async () => ({ status: "pending" }),
        // Counts Vendure's payments that go with these cards. If they are too much, a person has to decide.
        status: async ({ orderId, attemptId, remainderCents }) => {
          const amountCents = await this.orders.collectedCents(orderId, attemptId);
          return amountCents < remainderCents ? { status: "pending" } : { status: "authorized", amountCents };
        },
        // The cards are reversed. Refund what was collected with them, including payments that Vendure never stored.
        cancel: async ({ orderId, attemptId }) => {
          const isOver = async () => (other: string) => other === attemptId;
          // If a transaction is rolled back, so is the record of a refund. `settle` continues after it.
          if (this.orders.isInside(orderId) && (await this.orders.overPayments(orderId, isOver)).length > 0)
            throw Object.assign(new Error("The other payments are refunded next."), { code: LATER });
          // Recorded as this purchase's error, shown to staff, and retried.
          if (!(await this.orders.closePayments(orderId, isOver)))
            throw Object.assign(new Error(`Order ${orderId} waits for a refund.`), { code: "refund_failed" });
          await closePayment?.({ orderCode: orderId, attemptId }, new Injector(this.module));
        },
      },
      // If the process dies before this has run, recovery finds the order.
      onPurchase: ({ orderId, state }) => {
        if (state !== "charging" && state !== "pending") this.onDecided(orderId);
      },
      onFailure: (error) => Object(error).code === LATER || logFailure(error),
    });
  }
}
