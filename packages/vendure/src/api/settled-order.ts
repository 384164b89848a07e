import { cartStates } from "@giftcard-pay/checkout/store";
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from "@nestjs/common";
import { GqlExecutionContext } from "@nestjs/graphql";
import { internal_getRequestContext as contextOfRequest, Order, type RequestContext } from "@vendure/core";
import { mergeMap, type Observable } from "rxjs";
import { GiftcardCheckout } from "../checkout.js";
import { logFailure } from "../constants.js";
import { Orders } from "../orders.js";
import { Settlement } from "../settlement.js";

/**
 * Settles an order before a call returns it: `addPaymentToOrder` returns it placed, and a call that has changed its total, such as
 * by a coupon or an address, has its cards' money returned. Inside Vendure's transaction this isn't possible, because what it has
 * stored could still be lost.
 */
@Injectable()
export class SettledOrderInterceptor implements NestInterceptor {
  constructor(
    @Inject(Orders) private readonly orders: Orders,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Settlement) private readonly settlement: Settlement,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType<string>() !== "graphql") return next.handle();
    const graphql = GqlExecutionContext.create(context);
    const { parentType, fieldName } = graphql.getInfo<{ parentType: { name: string }; fieldName: string }>();
    if (parentType.name !== "Mutation") return next.handle();
    const { req } = graphql.getContext<{ req: Parameters<typeof contextOfRequest>[0] }>();
    const origin = contextOfRequest(req, context);
    const isPayment = fieldName === "addPaymentToOrder";
    return next.handle().pipe(mergeMap((answer) => this.settled(answer, origin, isPayment)));
  }

  /** @param given the answer, or a promise of it that is fulfilled after the commit */
  private async settled(given: unknown, origin: RequestContext, isPayment: boolean): Promise<unknown> {
    const answer = await given;
    const order =
      answer instanceof Order ? answer : (Object(answer).order ?? (await this.orderOfError(Object(answer), origin)));
    if (!(order instanceof Order) || order.orderPlacedAt != null) return answer;
    try {
      const purchase = await this.checkout.calls.read(order.code);
      if (!purchase || !(isPayment || cartStates.includes(purchase.state))) return answer;
      await this.settlement.request(order.code, origin);
      if (!isPayment || !(answer instanceof Order)) return answer;
      return (await this.orders.service.findOne(await this.orders.contextOf(order.code, origin), order.id)) ?? answer;
    } catch (error) {
      // The payment is stored; recovery places the order later.
      logFailure(error, order.code);
      return answer;
    }
  }

  /** Returns the active order if a call was refused. Vendure may have changed the order nevertheless, such as its coupons. */
  private async orderOfError({ errorCode }: { errorCode?: string }, { session }: RequestContext) {
    if (!errorCode || !session?.activeOrderId) return undefined;
    return this.orders.connection.rawConnection.getRepository(Order).findOneBy({ id: session.activeOrderId });
  }
}
