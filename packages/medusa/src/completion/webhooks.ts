import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { Logger, MedusaContainer, WebhookActionResult } from "@medusajs/framework/types";
import { Modules, PaymentActions } from "@medusajs/framework/utils";
import { processPaymentWorkflowId } from "@medusajs/medusa/core-flows";
import { hasSession } from "../medusa-tables/payments.js";

/** The actions by which a method reports that it holds or took a shopper's money. */
const holdsMoney: ReadonlySet<string> = new Set([PaymentActions.AUTHORIZED, PaymentActions.SUCCESSFUL]);

/**
 * Keeps Medusa from processing a webhook for a payment session that doesn't exist any more, or without a session. Medusa
 * would find no cart for it, then search for any cart, and complete the first one that it finds: another shopper's, with
 * that shopper's cards. Releases of Medusa differ in which of the two they notice themselves. Subscribers of the shop get
 * every webhook. It replaces the modules' own functions, since Medusa offers no other way.
 */
export function guardWebhooks(container: MedusaContainer, sql: Sql, logger: Logger): void {
  const payments = container.resolve(Modules.PAYMENT);
  payments.getWebhookActionAndData = readOnce(payments.getWebhookActionAndData.bind(payments));
  const engine = container.resolve(Modules.WORKFLOW_ENGINE);
  const run = engine.run.bind(engine) as (...args: unknown[]) => Promise<unknown>;
  const runGuarded = async (...args: [id: string, options?: { input?: unknown }, ...rest: unknown[]]) => {
    const [id, options] = args;
    if (id !== processPaymentWorkflowId) return run(...args);
    const { action, data } = (options?.input ?? {}) as WebhookActionResult;
    const sessionId = data?.session_id;
    if (sessionId && (await hasSession(sql, sessionId))) return run(...args);
    if (!sessionId) return undefined;
    const line = `giftcard: a webhook (${action}) is for the deleted payment session ${sessionId}`;
    if (holdsMoney.has(action)) logger.warn(`${line}, which holds money. Refund it at the payment method.`);
    else logger.info(`${line}. No action is needed.`);
    return undefined;
  };
  engine.run = runGuarded as typeof engine.run;
}

/** Lets Medusa's handler and the plugin's share one reading of a webhook: a provider may verify it over the network. */
function readOnce<Event extends object, Rest extends unknown[], Read>(read: (event: Event, ...rest: Rest) => Read) {
  const readings = new WeakMap<object, Read>();
  return (event: Event, ...rest: Rest): Read => {
    const reading = readings.get(event) ?? read(event, ...rest);
    readings.set(event, reading);
    return reading;
  };
}
