import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from "@nestjs/common";
import { GqlExecutionContext } from "@nestjs/graphql";
import { internal_getRequestContext as contextOfRequest, Order, type RequestContext } from "@vendure/core";
import { mergeMap, type Observable } from "rxjs";
import { logFailure } from "../constants.js";
import { Orders } from "../orders.js";
import { Settlement } from "../settlement.js";

/**
 * Places an order before `addPaymentToOrder` returns it. Inside Vendure's transaction it can't be placed, because the last
 * payment is not committed yet and could be lost. This runs after the commit, so that a storefront sees the final state.
 */
@Injectable()
export class PlacedOrderInterceptor implements NestInterceptor {
  constructor(
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Settlement) private readonly settlement: Settlement,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType<string>() !== "graphql") return next.handle();
    const graphql = GqlExecutionContext.create(context);
    if (graphql.getInfo<{ fieldName: string }>().fieldName !== "addPaymentToOrder") return next.handle();
    const { req } = graphql.getContext<{ req: Parameters<typeof contextOfRequest>[0] }>();
    const origin = contextOfRequest(req, context);
    return next.handle().pipe(mergeMap((answer) => this.settled(answer, origin)));
  }

  /** @param given the answer, or a promise of it that is fulfilled after the commit */
  private async settled(given: unknown, origin: RequestContext): Promise<unknown> {
    const answer = await given;
    if (!(answer instanceof Order) || answer.state !== "ArrangingPayment") return answer;
    try {
      await this.settlement.settle(answer.code, origin);
      return (await this.orders.service.findOne(await this.orders.contextOf(answer.code, origin), answer.id)) ?? answer;
    } catch (error) {
      // The payment is stored; recovery places the order later.
      logFailure(error);
      return answer;
    }
  }
}
