import { formatCents } from "@giftcard-pay/client";
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from "@nestjs/common";
import { from, lastValueFrom, type Observable } from "rxjs";
import { logFailure } from "./constants.js";
import { Settlement } from "./settlement.js";

/** The metadata that StripePlugin writes into its intents. */
const VENDURE_METADATA = ["channelToken", "orderCode", "orderId", "languageCode"];

/** A payment intent in Stripe's event, as far as it matters here. */
interface Intent {
  readonly id: string;
  readonly amount_received?: number;
  /** `outstandingByStripe` has written the attempt. */
  readonly metadata?: { readonly orderCode?: string; readonly giftcardAttemptId?: string };
}

/**
 * Watches the webhooks of Vendure's StripePlugin. It tells which cards an intent was made for, and tells staff about a payment
 * that Vendure did not record: the plugin only logs a payment of an order that is placed already.
 */
@Injectable()
export class StripeWebhookInterceptor implements NestInterceptor {
  /** The intents of the webhooks that are running, by their ids. */
  readonly #running = new Map<string, Intent>();

  constructor(@Inject(Settlement) private readonly settlement: Settlement) {}

  /** Whether a running webhook is about this intent. @param intentId the payment's id */
  isAbout(intentId: string): boolean {
    return this.#running.has(intentId);
  }

  /** Returns the attempt that the intent of a running webhook names. @param intentId the payment's id */
  attemptOf(intentId: string): string | undefined {
    return this.#running.get(intentId)?.metadata?.giftcardAttemptId;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== "http" || context.getClass().name !== "StripeController") return next.handle();
    const http = context.switchToHttp();
    const intent = paidIntentOf(http.getRequest<{ body: unknown }>().body);
    if (!intent) return next.handle();
    return from(this.handle(intent, next, http.getResponse<{ statusCode: number }>()));
  }

  private async handle(intent: Intent, next: CallHandler, response: { statusCode: number }): Promise<unknown> {
    this.#running.set(intent.id, intent);
    try {
      const answer = await lastValueFrom(next.handle(), { defaultValue: undefined });
      // StripePlugin has checked the signature, and answers 400 if it is wrong.
      if (response.statusCode === 200) await this.check(intent).catch(logFailure);
      return answer;
    } finally {
      if (this.#running.get(intent.id) === intent) this.#running.delete(intent.id);
    }
  }

  private async check({ id, amount_received: cents, metadata }: Intent): Promise<void> {
    if (!metadata?.orderCode || cents === undefined) return;
    await this.settlement.noteUnrecorded(
      metadata.orderCode,
      id,
      `Stripe has collected ${formatCents(cents)} (${id}), and Vendure has not recorded it. ` +
        "Refund it in Stripe's dashboard, unless it is among the order's payments now.",
    );
  }
}

/** Returns the intent of an event that says that it is paid. @param body the raw body */
function paidIntentOf(body: unknown): Intent | undefined {
  try {
    const { type, data } = JSON.parse(String(body));
    if (type !== "payment_intent.succeeded" || !/^pi_\w+$/.test(data.object.id)) return undefined;
    // StripePlugin answers 200 to an intent without its metadata, and does not check the signature.
    const isOurs = VENDURE_METADATA.every((name) => typeof data.object.metadata?.[name] === "string");
    return isOurs ? data.object : undefined;
  } catch {
    return undefined;
  }
}
