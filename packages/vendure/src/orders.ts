import { Inject, Injectable } from "@nestjs/common";
import {
  type ID,
  Order,
  OrderService,
  type RequestContext,
  RequestContextService,
  TransactionalConnection,
} from "@vendure/core";
import { heldCents, Money, wasPlaced } from "./money.js";

/**
 * How a row is locked against other changes. On databases without locks, Vendure runs one transaction at a time. On
 * PostgreSQL, rows that refer to the order can still be added, which a full lock would make wait, up to a deadlock.
 */
const locks: Readonly<Record<string, "for_no_key_update" | "pessimistic_write">> = {
  ...{ postgres: "for_no_key_update", "aurora-postgres": "for_no_key_update" },
  ...{ mysql: "pessimistic_write", mariadb: "pessimistic_write", "aurora-mysql": "pessimistic_write" },
};

const DEFAULT_CHANNEL = "__default_channel__";

/** Locks Vendure's orders. Changes of an order run one at a time. */
@Injectable()
export class Orders {
  /** The ends of the work on orders, if the database has no locks. */
  readonly #turns = new Map<string, Promise<void>>();

  /** @internal */
  constructor(
    @Inject(TransactionalConnection) readonly connection: TransactionalConnection,
    @Inject(OrderService) readonly service: OrderService,
    @Inject(RequestContextService) private readonly contexts: RequestContextService,
    @Inject(Money) private readonly money: Money,
  ) {}

  /** Locks the order until the transaction ends: nothing else changes it or pays for it. Without a transaction, only reads it. */
  async lock(ctx: RequestContext, code: string): Promise<Order> {
    const query = this.connection.getRepository(ctx, Order).createQueryBuilder("o");
    const lock = locks[this.connection.rawConnection.options.type];
    if (lock && this.isInTransaction(ctx)) query.setLock(lock as "pessimistic_write");
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
    const payment = await this.money.livePayment(ctx, id, paymentId);
    return payment ? heldCents(payment) : 0;
  }

  /** @internal Whether Vendure accepts payments for an order that is not placed: in `ArrangingPayment`, or a state of the shop. */
  canBePaid(order: Order): boolean {
    if (wasPlaced(order)) return false;
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
    return locks[this.connection.rawConnection.options.type] ? run() : this.inTurn(code, run);
  }

  /** Runs work on an order after the work that this process is doing on it. On SQLite, all transactions share a connection. */
  private async inTurn<T>(code: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(code) ?? Promise.resolve()).then(work);
    const end = turn.then(
      () => {},
      () => {},
    );
    this.#turns.set(code, end);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(code) === end) this.#turns.delete(code);
    }
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
