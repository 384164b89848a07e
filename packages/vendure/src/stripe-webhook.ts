import { formatCents } from "@giftcard-pay/client";
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from "@nestjs/common";
import { Logger } from "@vendure/core";
import { mergeMap, type Observable } from "rxjs";
import { LOGGER, messageOf } from "./constants.js";
import { Settlement } from "./settlement.js";

/** The parts of Stripe's event that matter here. */
interface StripeEvent {
  readonly type: string;
  readonly data: {
    readonly object: {
      readonly id: string;
      readonly amount_received?: number;
      readonly metadata?: { readonly orderCode?: string };
    };
  };
}

/**
 * Tells staff about a payment at Stripe that Vendure did not record: its StripePlugin only logs a payment of an order that is
 * placed already. It happens if the shopper has paid by an old intent.
 */
@Injectable()
export class StripeWebhookInterceptor implements NestInterceptor {
  constructor(@Inject(Settlement) private readonly settlement: Settlement) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== "http" || context.getClass().name !== "StripeController") return next.handle();
    const http = context.switchToHttp();
    return next.handle().pipe(
      mergeMap(async (answer) => {
        // StripePlugin has checked the signature, and answers 400 if it is wrong.
        if (http.getResponse<{ statusCode: number }>().statusCode === 200)
          await this.check(JSON.parse(String(http.getRequest<{ body: unknown }>().body))).catch((error: unknown) =>
            Logger.error(messageOf(error), LOGGER),
          );
        return answer;
      }),
    );
  }

  private async check({ type, data: { object } }: StripeEvent): Promise<void> {
    const { id, amount_received: cents, metadata } = object;
    if (type !== "payment_intent.succeeded" || !metadata?.orderCode || cents === undefined) return;
    await this.settlement.noteUnrecorded(
      metadata.orderCode,
      id,
      `Stripe has collected ${formatCents(cents)} (${id}) that this order does not need. Refund it in Stripe's dashboard.`,
    );
  }
}
