import { type ChargeView, reconciliationText } from "@giftcard-pay/checkout/operator";
import type { Purchase } from "@giftcard-pay/checkout/store";
import { Inject } from "@nestjs/common";
import { ModuleRef } from "@nestjs/core";
import { Args, Mutation, Query, Resolver } from "@nestjs/graphql";
import {
  Allow,
  ChannelService,
  Ctx,
  ForbiddenError,
  Order,
  type RequestContext,
  SchedulerService,
  UserInputError,
} from "@vendure/core";
import { In } from "typeorm";
import { GiftcardCheckout } from "../checkout.js";
import { SETTINGS } from "../constants.js";
import { cardPayments } from "../ledger.js";
import type { Settings } from "../options.js";
import { Orders } from "../orders.js";
import { RECOVERY_TASK } from "../recovery-task.js";
import { Settlement } from "../settlement.js";
import { giftcardPermission } from "./admin-schema.js";

const MOST_ITEMS = 200;
/** Recovery that has not run for so long is late. */
const LATE_MS = 10 * 60_000;

interface ChargeOptions {
  readonly states?: ChargeView["state"][];
  readonly orderCode?: string;
  readonly skip?: number;
  readonly take?: number;
}

type Decision = "retry" | "markTaken" | "markNotTaken";

/** The calls of the shop's staff. In a channel, they reach its orders only; lists of all orders are for the default channel. */
@Resolver()
export class AdminResolver {
  constructor(
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Settlement) private readonly settlement: Settlement,
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(ChannelService) private readonly channels: ChannelService,
    @Inject(ModuleRef) private readonly module: ModuleRef,
  ) {}

  @Query("giftcardCharges")
  @Allow(giftcardPermission.Read)
  async giftcardCharges(@Ctx() ctx: RequestContext, @Args("options") options: ChargeOptions | null) {
    const { states, orderCode, skip, take } = options ?? {};
    await (orderCode ? this.checkOrder(ctx, orderCode) : this.checkDefaultChannel(ctx));
    const { charges, count } = await this.checkout.calls.operator.charges({
      ...(states && { states }),
      ...(orderCode && { orderIds: [orderCode] }),
      ...pageOf(skip, take),
    });
    return { items: await this.withOrders(charges.map(showCharge)), totalItems: count };
  }

  @Query("giftcardPurchases")
  @Allow(giftcardPermission.Read)
  async giftcardPurchases(@Ctx() ctx: RequestContext, @Args("skip") skip?: number, @Args("take") take?: number) {
    await this.checkDefaultChannel(ctx);
    const { purchases, count } = await this.checkout.calls.operator.purchases(pageOf(skip, take));
    const items = await Promise.all(purchases.map((purchase) => this.showPurchase(purchase)));
    return { items: await this.withOrders(items), totalItems: count };
  }

  @Query("giftcardPurchase")
  @Allow(giftcardPermission.Read)
  async giftcardPurchase(@Ctx() ctx: RequestContext, @Args("orderCode") orderCode: string) {
    await this.checkOrder(ctx, orderCode);
    const purchase = await this.checkout.calls.read(orderCode);
    return purchase && this.showPurchase(purchase);
  }

  @Query("giftcardEvidence")
  @Allow(giftcardPermission.Read)
  async giftcardEvidence(@Ctx() ctx: RequestContext, @Args("reference") reference: string) {
    const evidence = await this.checkout.calls.operator.evidence(reference);
    if (!evidence) return null;
    const { charge, otherChargesOfCard } = evidence;
    const { balanceBeforeCents: balanceBefore, balanceAfterCents: balanceAfter, balanceAfterAt } = charge;
    await this.checkCharge(ctx, charge);
    // Other orders may belong to other channels.
    const others = (await this.isDefaultChannel(ctx)) ? otherChargesOfCard.map(showCharge) : [];
    return {
      ...{ ...evidence, charge: showCharge(charge), balanceBefore, balanceAfter, balanceAfterAt },
      otherChargesOfCard: others,
    };
  }

  @Query("giftcardHealth")
  @Allow(giftcardPermission.Read)
  async giftcardHealth(@Ctx() ctx: RequestContext) {
    await this.checkDefaultChannel(ctx);
    const task = (await this.module.get(SchedulerService, { strict: false }).getTaskList()).find(
      ({ id }) => id === RECOVERY_TASK,
    );
    const lastRunAt = task?.lastExecutedAt ?? null;
    const isLate = lastRunAt === null || Date.now() - lastRunAt.getTime() > LATE_MS;
    return { ...(await this.checkout.calls.health()), recovery: { lastRunAt, isLate } };
  }

  @Query("giftcardReconciliation")
  @Allow(giftcardPermission.Read)
  async giftcardReconciliation(@Ctx() ctx: RequestContext, @Args("from") from: string, @Args("to") to: string) {
    await this.checkDefaultChannel(ctx);
    const payments = cardPayments.bind(null, this.orders.connection, this.settings.paymentMethodCode);
    try {
      const result = await this.checkout.calls.operator.reconcile({ from, to, payments });
      return { ...result, text: reconciliationText(result) };
    } catch (error) {
      if (error instanceof RangeError) throw new UserInputError(error.message);
      throw error;
    }
  }

  @Mutation("retryGiftcardCharge")
  @Allow(giftcardPermission.Write)
  retryGiftcardCharge(@Ctx() ctx: RequestContext, @Args("reference") reference: string) {
    return this.decide(ctx, reference, "retry");
  }

  @Mutation("markGiftcardChargeTaken")
  @Allow(giftcardPermission.Write)
  markGiftcardChargeTaken(@Ctx() ctx: RequestContext, @Args("reference") reference: string) {
    return this.decide(ctx, reference, "markTaken");
  }

  @Mutation("markGiftcardChargeNotTaken")
  @Allow(giftcardPermission.Write)
  markGiftcardChargeNotTaken(@Ctx() ctx: RequestContext, @Args("reference") reference: string) {
    return this.decide(ctx, reference, "markNotTaken");
  }

  @Mutation("retryGiftcardPurchase")
  @Allow(giftcardPermission.Write)
  async retryGiftcardPurchase(@Ctx() ctx: RequestContext, @Args("orderCode") orderCode: string) {
    await this.checkOrder(ctx, orderCode);
    const purchase = await this.checkout.calls.operator.retryPurchase(orderCode, actorOf(ctx));
    return purchase && this.showPurchase(purchase);
  }

  @Mutation("markGiftcardRemainderSettled")
  @Allow(giftcardPermission.Write)
  async markGiftcardRemainderSettled(@Ctx() ctx: RequestContext, @Args("orderCode") orderCode: string) {
    await this.checkOrder(ctx, orderCode);
    const actor = actorOf(ctx);
    const isOpen = (await this.checkout.calls.operator.markRemainderSettled(orderCode, actor)) !== null;
    if (!isOpen && !(await this.settlement.settleElsewhere(orderCode, actor))) return null;
    // Vendure's payments hold nothing any more.
    await this.settlement.request(orderCode);
    return this.showPurchase(await this.checkout.read(orderCode));
  }

  @Mutation("refundGiftcardOvercollection")
  @Allow(giftcardPermission.Write)
  async refundGiftcardOvercollection(@Ctx() ctx: RequestContext, @Args("orderCode") orderCode: string) {
    await this.checkOrder(ctx, orderCode);
    if (!(await this.checkout.calls.read(orderCode)))
      throw new UserInputError("No gift card was charged for this order.");
    return this.settlement.refundExcess(orderCode);
  }

  private async decide(ctx: RequestContext, reference: string, decision: Decision) {
    const evidence = await this.checkout.calls.operator.evidence(reference);
    if (!evidence) throw new UserInputError("There is no such charge.");
    await this.checkCharge(ctx, evidence.charge);
    const charge = await this.checkout.calls.operator[decision](reference, actorOf(ctx));
    if (charge?.orderId) this.settlement.soon(charge.orderId);
    return charge && showCharge(charge);
  }

  private async showPurchase(purchase: Purchase) {
    const { orderId: orderCode, totalCents: total, remainderCents: remainder } = purchase;
    const overcollected = await this.settlement.excessCents(purchase);
    return { ...purchase, orderCode, total, remainder, overcollected };
  }

  /** Adds the ids of orders to rows that have their codes. */
  private async withOrders<T extends { orderCode: string | null }>(rows: T[]) {
    const where = { code: In(rows.map(({ orderCode }) => orderCode ?? "")) };
    const orders = await this.orders.connection.rawConnection.getRepository(Order).find({ where });
    return rows.map((row) => ({ ...row, orderId: orders.find(({ code }) => code === row.orderCode)?.id ?? null }));
  }

  /** @throws {ForbiddenError} if the order isn't in this channel */
  private async checkOrder(ctx: RequestContext, orderCode: string): Promise<void> {
    if (!(await this.orders.service.findOneByCode(ctx, orderCode))) throw new ForbiddenError();
  }

  private checkCharge(ctx: RequestContext, { orderId }: ChargeView): Promise<void> {
    return orderId ? this.checkOrder(ctx, orderId) : this.checkDefaultChannel(ctx);
  }

  private async isDefaultChannel(ctx: RequestContext): Promise<boolean> {
    return ctx.channelId === (await this.channels.getDefaultChannel(ctx)).id;
  }

  private async checkDefaultChannel(ctx: RequestContext): Promise<void> {
    if (!(await this.isDefaultChannel(ctx)))
      throw new UserInputError(
        "Give orderCode, or use the default channel: it has the lists of all orders, and the health.",
      );
  }
}

const pageOf = (skip?: number | null, take?: number | null) => ({
  offset: Math.max(0, skip ?? 0),
  limit: Math.min(MOST_ITEMS, Math.max(0, take ?? 50)),
});

/** Returns the name of the administrator, for the record. */
const actorOf = (ctx: RequestContext): string => ctx.session?.user?.identifier ?? String(ctx.activeUserId);

const showCharge = (charge: ChargeView) => ({ ...charge, orderCode: charge.orderId, amount: charge.amountCents });
