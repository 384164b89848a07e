import { Inject, Injectable } from "@nestjs/common";
import {
  type ID,
  Order,
  OrderService,
  Payment,
  type RequestContext,
  RequestContextService,
  TransactionalConnection,
} from "@vendure/core";
import { heldCents, Money } from "./money.js";

const DEFAULT_CHANNEL = "__default_channel__";

/** Vendure's own states of orders that are placed. */
const placedStates: readonly string[] = [
  ...["PaymentAuthorized", "PaymentSettled", "PartiallyShipped", "Shipped", "PartiallyDelivered", "Delivered"],
  ...["Modifying", "ArrangingAdditionalPayment"],
];

/** Locks Vendure's orders. Changes of an order run one at a time. */
@Injectable()
export class Orders {
  /** The end of the work on orders, if the database has no locks. */
  #turn: Promise<unknown> = Promise.resolve();
  #unplacedStates: ReadonlySet<string> | undefined;

  /** @internal */
  constructor(
    @Inject(TransactionalConnection) readonly connection: TransactionalConnection,
    @Inject(OrderService) readonly service: OrderService,
    @Inject(RequestContextService) private readonly contexts: RequestContextService,
    @Inject(Money) private readonly money: Money,
  ) {}

  /** On SQLite, all transactions share a connection, so work on orders runs one after another. */
  private get hasLocks(): boolean {
    return this.connection.rawConnection.options.type === "postgres";
  }

  /** Locks the order until the transaction ends: nothing else changes it or pays for it. Without a transaction, only reads it. */
  async lock(ctx: RequestContext, code: string): Promise<Order> {
    const query = this.connection.getRepository(ctx, Order).createQueryBuilder("o");
    // Rows that refer to the order can still be added. A full lock would make them wait, up to a deadlock.
    if (this.hasLocks && this.isInTransaction(ctx)) query.setLock("for_no_key_update");
    const { id } = await query.where("o.code = :code", { code }).getOneOrFail();
    const order = await this.service.findOne(ctx, id);
    if (!order) throw new Error("The order is not visible in its channel.");
    return order;
  }

  /** Whether a context is in a transaction. Some providers add payments without one. */
  private isInTransaction(ctx: RequestContext): boolean {
    return this.connection.getRepository(ctx, Order).manager.queryRunner?.isTransactionActive === true;
  }

  /** Locks the order and returns the cents that a payment still holds. Vendure has read them before without a lock. */
  async lockHeldCents(ctx: RequestContext, code: string, paymentId: ID): Promise<number> {
    const { id } = await this.lock(ctx, code);
    const payment = await this.lockPayment(ctx, id, paymentId);
    return payment ? heldCents(payment) : 0;
  }

  /** Returns one of the order's live payments. @throws while staff capture or cancel it: they may wait for the order's lock */
  async lockPayment(ctx: RequestContext, orderId: ID, id: ID): Promise<Payment | undefined> {
    const query = this.connection.getRepository(ctx, Payment).createQueryBuilder("p").where("p.id = :id", { id });
    if (this.hasLocks && this.isInTransaction(ctx))
      await query.setLock("for_no_key_update").setOnLocked("nowait").getOne();
    return (await this.money.live(ctx, orderId)).find((payment) => payment.id === id);
  }

  /** @internal The states, also of the shop's own, that an order can have before it is placed. */
  get unplacedStates(): ReadonlySet<string> {
    if (this.#unplacedStates) return this.#unplacedStates;
    const unplaced = new Set<string>(["Created"]);
    // The loop also visits the states that it adds.
    for (const state of unplaced)
      for (const next of this.service.getNextOrderStates({ state } as Order))
        if (!placedStates.includes(next)) unplaced.add(next);
    this.#unplacedStates = unplaced;
    return unplaced;
  }

  /**
   * @internal
   * Whether an order has been placed. If it is paid in a state of the shop, Vendure's default strategy never sets
   * `orderPlacedAt`, and only its state tells.
   */
  wasPlaced = ({ orderPlacedAt, state }: Order): boolean => orderPlacedAt != null || !this.unplacedStates.has(state);

  /** @internal Whether Vendure accepts payments for an order that is not placed: in `ArrangingPayment`, or a state of the shop. */
  canBePaid(order: Order): boolean {
    if (this.wasPlaced(order)) return false;
    if (order.state === "ArrangingPayment") return true;
    // Vendure asks the same in `addPaymentToOrder`.
    const next: readonly string[] = this.service.getNextOrderStates(order);
    return next.includes("PaymentAuthorized") && next.includes("PaymentSettled");
  }

  /** @internal Runs work in a new transaction that has locked the order. @param origin as for `contextOf` */
  async alone<T>(
    code: string,
    work: (ctx: RequestContext, order: Order) => Promise<T>,
    origin?: RequestContext,
  ): Promise<T> {
    const admin = await this.contextOf(code, origin);
    const run = () => this.connection.withTransaction(admin, async (ctx) => work(ctx, await this.lock(ctx, code)));
    if (this.hasLocks) return run();
    const turn = this.#turn.then(run);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /**
   * @internal
   * Makes the context of the order's own channel: its payment methods and their settings belong to that channel.
   *
   * @param origin the shopper's context. Vendure's e-mails take their language and the address of images from it
   */
  async contextOf(code: string, origin?: RequestContext): Promise<RequestContext> {
    const order = await this.connection.rawConnection
      .getRepository(Order)
      .findOneOrFail({ where: { code }, relations: ["channels"] });
    const own = order.channels.find((channel) => channel.code !== DEFAULT_CHANNEL) ?? order.channels[0];
    return this.contexts.create({
      apiType: "admin",
      ...(own && { channelOrToken: own.token }),
      ...(origin && { languageCode: origin.languageCode, ...(origin.req && { req: origin.req }) }),
    });
  }
}
