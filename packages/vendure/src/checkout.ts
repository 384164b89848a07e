import { type Checkout, createCheckout } from "@giftcard-pay/checkout";
import { createSealer, tenderAudience } from "@giftcard-pay/checkout/plugin";
import { type Purchase, soldStates } from "@giftcard-pay/checkout/store";
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from "@nestjs/common";
import { ModuleRef } from "@nestjs/core";
import { Injector, type Order, type Payment, TransactionalConnection } from "@vendure/core";
import { logFailure, SETTINGS } from "./constants.js";
import { cartOf } from "./lines.js";
import { Money } from "./money.js";
import { clientOf, type Settings } from "./options.js";
import { Returns } from "./returns.js";
import { type OpenedStore, openStore } from "./store.js";

type Calls = Omit<Checkout, "read"> & { read(orderCode: string): Promise<Purchase | null> };

/** The checkout, opened when Vendure starts. Vendure itself collects the remainder. */
@Injectable()
export class GiftcardCheckout implements OnModuleInit, OnModuleDestroy {
  #calls: Calls | undefined;
  #store: OpenedStore | undefined;

  /** @internal */
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(TransactionalConnection) private readonly connection: TransactionalConnection,
    @Inject(Money) private readonly money: Money,
    @Inject(Returns) private readonly returns: Returns,
    @Inject(ModuleRef) private readonly module: ModuleRef,
  ) {}

  /** @internal */
  async onModuleInit(): Promise<void> {
    this.#store = await openStore(this.connection.rawConnection.options);
    const { purchases } = this.#store;
    this.#calls = { ...this.open(this.#store), read: (orderCode) => purchases.read(orderCode) };
  }

  /** @internal */
  async onModuleDestroy(): Promise<void> {
    await this.#store?.close?.();
  }

  /** The checkout's calls. Most orders have no purchase: then `read` returns null. */
  get calls(): Calls {
    if (!this.#calls) throw new Error("GiftcardPlugin: Vendure has not started yet.");
    return this.#calls;
  }

  /** @internal Reads the purchase of an order that has one. */
  async read(orderCode: string): Promise<Purchase> {
    const purchase = await this.calls.read(orderCode);
    if (!purchase) throw new Error("The order has no gift card purchase.");
    return purchase;
  }

  /**
   * @internal
   * Decides to reverse a purchase, in a single write, so that it can be called with the order's lock. `calls.cancel` reverses it
   * without the lock: first the cards, then what other methods hold.
   *
   * @returns whether it was decided; false if the purchase has changed, or is being refunded
   */
  async beginReversal({ orderId, attemptId, state }: Purchase): Promise<boolean> {
    if (state !== "pending" && !(soldStates.includes(state) && state !== "refunding")) return false;
    const to = state === "pending" ? "voiding" : "canceling";
    return (await this.#store?.purchases.change(orderId, { from: [state], to, attemptId, lease: null })) != null;
  }

  /** @internal Applies the cards of an order to the one into which Vendure has merged it. @throws the first failure, after all */
  async carryCards(fromCode: string, to: Order): Promise<void> {
    const { environment, sealingKeys } = this.settings;
    const audience = tenderAudience({ issuer: clientOf(this.settings), environment }, fromCode);
    let failure: unknown;
    for (const { sealedCard, state } of (await this.#store?.journal.tenders(fromCode)) ?? []) {
      if (state !== "applied" || sealedCard === null) continue;
      const { cardNumber, pin } = await createSealer({ keys: sealingKeys }).openTenderCard(sealedCard, audience);
      const card = { cardNumber: cardNumber.reveal(), pin: pin.reveal() };
      await this.calls.apply(cartOf(to), card).catch((error: unknown) => {
        failure ??= error;
      });
    }
    if (failure) throw failure;
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
          const amountCents = this.money.collectedCents(await this.money.committed(orderId), attemptId);
          return amountCents < remainderCents ? { status: "pending" } : { status: "authorized", amountCents };
        },
        // The cards are reversed. Refund what was collected with them, including payments that Vendure never stored.
        cancel: async ({ orderId, attemptId }) => {
          const isOver = (payment: Payment) => (this.money.attemptOf(payment) === attemptId ? "return" : "keep");
          // Recorded as this purchase's error, shown to staff, and retried.
          if (!(await this.returns.close(orderId, async () => isOver)))
            throw Object.assign(new Error(`Order ${orderId} waits for a refund.`), { code: "refund_failed" });
          await closePayment?.({ orderCode: orderId, attemptId }, new Injector(this.module));
        },
      },
      onFailure: (error) => logFailure(error),
    });
  }
}
