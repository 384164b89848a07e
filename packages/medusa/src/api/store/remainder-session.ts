import { CheckoutError } from "@giftcard-pay/checkout";
import type { PaymentPlan } from "@giftcard-pay/checkout/plugin";
import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MedusaError, Modules } from "@medusajs/framework/utils";
import { fromCents } from "../../amount.js";
import { type CartPayment, readCartPayment } from "../../cart/cart-payment.js";
import { withCartLock } from "../../cart/cart-turn.js";
import { createEmptySession, isCovered, refusePaid, replaceSessions } from "../../cart/sessions.js";
import { settleCart } from "../../completion/paid-orders.js";
import { contextOf } from "../../context/context.js";
import { toRefusalOfMethod } from "../../errors.js";
import { providersOfCart } from "../../medusa-tables/carts.js";
import { readCollection } from "../../medusa-tables/payments.js";
import { PROVIDER_ID } from "../../names.js";
import { explainNoSession } from "../../providers/giftcard/provider.js";

type Body = { provider_id: string; data?: Record<string, unknown> };
type Request = MedusaRequest & { auth_context?: { actor_id?: string } };

const bodyOf = (req: MedusaRequest) => req.body as Body;

/**
 * Makes Medusa's "initialize payment session" route create the session for what the cards leave to pay, or a session
 * for 0.00 if they leave nothing. A page calls it as usual. A cart that never had a gift card is passed on to Medusa,
 * unless it is a paid order: Medusa would delete the session that holds the order's money, and so refund it.
 */
export async function initiateRemainder(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const collectionId = String(req.params.id);
  if (bodyOf(req).provider_id === PROVIDER_ID) throw await explainNoSession(contextOf(req.scope).sql, collectionId);
  const { cartId, hadCards, paysOrder } = await readCollection(contextOf(req.scope).sql, collectionId);
  if (paysOrder) throw new CheckoutError("cart_completed");
  if (!cartId || !hadCards) return next();
  if (!(await withCartLock(req.scope, cartId, () => makeSession(req, cartId)))) return next();
  const { data } = await req.scope.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "payment_collection",
    fields: req.queryConfig.fields,
    filters: { id: req.params.id },
  });
  res.status(200).json({ payment_collection: data[0] });
}

/** Creates the session. @returns false if Medusa shall create it, since cards pay in euro only */
async function makeSession(req: Request, cartId: string): Promise<boolean> {
  const giftcard = contextOf(req.scope);
  const { engine } = giftcard;
  const payment = await readCartPayment(req.scope, cartId);
  if (payment.isCompleted) throw new CheckoutError("cart_completed");
  if (!payment.isEuro) return false;
  refusePaid(payment.otherSessions);
  await settleCart(giftcard, cartId);
  const plan = await engine.plan(payment.cart);
  if (isCovered(plan)) {
    await createEmptySession(req.scope, payment, plan);
    return true;
  }
  const { provider_id } = bodyOf(req);
  // Medusa before 2.20 accepts any method that the store has loaded. One that asks for nothing would place an order
  // unpaid.
  if (!(await providersOfCart(giftcard.sql, cartId)).includes(provider_id)) throw notOffered(provider_id);
  await createRemainderSession(req, payment, plan).catch((error: unknown) => {
    throw toRefusalOfMethod(error, giftcard.logger);
  });
  return true;
}

const notOffered = (providerId: string) =>
  new MedusaError(
    MedusaError.Types.INVALID_DATA,
    `The cart's region doesn't offer the payment method ${providerId}. Choose another one.`,
    "invalid_request",
  );

/** Creates the session for what the cards leave to pay, as Medusa's createPaymentSessionsWorkflow does for the whole amount. */
async function createRemainderSession(req: Request, payment: CartPayment, plan: PaymentPlan): Promise<void> {
  const { provider_id, data = {} } = bodyOf(req);
  const customerId = req.auth_context?.actor_id;
  const context = (customerId ? await readPayer(req.scope, customerId, provider_id) : {}) as never;
  const session = { provider_id, amount: fromCents(plan.remainderCents), data, context };
  await replaceSessions(req.scope, { ...payment, collectionId: String(req.params.id) }, plan, session);
}

const PAYER = "id email company_name first_name last_name phone addresses.* account_holders.* metadata".split(" ");

/** Reads the customer as a payment method gets them, with their account there, which is created if it needs one. */
async function readPayer(container: MedusaContainer, customerId: string, providerId: string) {
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({ entity: "customer", fields: PAYER, filters: { id: customerId } });
  const [found] = data as { addresses?: { is_default_billing?: boolean }[]; account_holders?: Account[] }[];
  const { addresses = [], account_holders = [] } = found ?? {};
  const billing = addresses.find((address) => address.is_default_billing) ?? addresses[0];
  const customer = { ...found, billing_address: billing };
  const known = account_holders.find((account) => account?.provider_id === providerId);
  const asked = { provider_id: providerId, context: { account_holder: known, customer } };
  const account = await container.resolve(Modules.PAYMENT).createAccountHolder(asked as never);
  if (!known && account) {
    const link = {
      [Modules.CUSTOMER]: { customer_id: customerId },
      [Modules.PAYMENT]: { account_holder_id: account.id },
    };
    await container.resolve(ContainerRegistrationKeys.LINK).create([link]);
  }
  return { customer, account_holder: account };
}

type Account = { readonly id: string; readonly provider_id: string } | undefined;
