import {
  type RemainderData,
  type RemainderMethod,
  type RemainderPart,
  type RemainderRequest,
  within,
} from "../purchase/remainder.js";
import type { Purchase } from "../store/purchase-store.js";

/** A problem of a payment that a person has to look at. */
export interface PaymentAlert {
  /**
   * - `refund_failed`: a refund was accepted and failed later, so the shopper doesn't have the money.
   * - `disputed`: the shopper disputes the payment or had it charged back.
   * - `authorization_expired`: the money was held and not captured in time, so it is released.
   * - `returned_elsewhere`: so much of a refund was returned already, such as in the provider's dashboard. It isn't repeated.
   */
  readonly kind: "refund_failed" | "disputed" | "authorization_expired" | "returned_elsewhere";
  readonly orderId: string;
  readonly attemptId: string;
  /** The id of the refund, dispute or payment at the provider. */
  readonly id: string;
  readonly amountCents: number;
  /** Such as `EUR`. */
  readonly currency: string;
}

/** The options that all payment providers have. */
export interface MethodOptions {
  /**
   * `automatic`: the provider takes the money when the shopper pays. `manual`: it holds the money until `capture`, and
   * offers the shopper only methods that support this. Default: automatic.
   */
  readonly captureMethod?: "automatic" | "manual";
  /**
   * The timeout of a call to the provider, in milliseconds, with its repetition. Shorter than half of `leaseMs`. Default:
   * 40 seconds.
   */
  readonly timeoutMs?: number;
  /**
   * Called by `webhook` for a refund that failed later, a dispute, or an expired authorization, and by a refund of money that
   * was returned elsewhere. It may be called more than once with the same `id`. If it throws, the provider sends the
   * notification again, or the refund is repeated.
   */
  readonly onAlert?: (alert: PaymentAlert) => unknown;
}

/** The names of `MethodOptions`, and of the option that every provider has besides. */
export const sharedNames = ["client", "captureMethod", "timeoutMs", "onAlert"];

/** A remainder method that can hold the money until it is captured. */
export interface ProviderMethod extends RemainderMethod {
  refund(request: RemainderRequest, part: RemainderPart): Promise<void>;
  webhook: NonNullable<RemainderMethod["webhook"]>;
  /**
   * Captures the remainder of a paid order that `captureMethod: "manual"` holds. Idempotent. Captures nothing if it was taken
   * already.
   *
   * @param purchase from `Checkout.read`
   * @throws {TypeError} if the order isn't paid; errors of the provider
   */
  capture(purchase: Purchase | null): Promise<void>;
}

/** The default of `timeoutMs`. */
export const TIMEOUT_MS = 40_000;

/** An error of an adapter. Its code is stored as the purchase's `lastError`. */
export const methodFault = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/**
 * Fails a call that doesn't end in time. The SDKs have no such timeout, or none for a response that breaks off.
 *
 * @param timeoutMs in milliseconds
 */
export function inTime<T>(timeoutMs: number, call: Promise<T>): Promise<T> {
  const late = methodFault("timeout", `The payment provider did not respond within ${timeoutMs} ms.`);
  return within(timeoutMs, call, late);
}

/** A refund that a provider has recorded. */
export interface MadeRefund {
  readonly amountCents: number;
  /** Whether it failed or was canceled. */
  readonly hasFailed: boolean;
  /** The key of the part that it refunds, if it refunds one. */
  readonly key: string | undefined;
}

/** Returns what the metadata of a payment and of its refunds identify them by. */
export const metadataOf = ({ orderId, attemptId }: RemainderRequest, part?: RemainderPart): Record<string, string> => ({
  orderId,
  attemptId,
  ...(part && { refundKey: part.idempotencyKey }),
});

/** Reads the metadata of a payment. Returns null if the payment isn't one of an order's remainder. */
export function ownerOf(metadata: unknown): { orderId: string; attemptId: string } | null {
  const { orderId, attemptId } = (metadata ?? {}) as Record<string, unknown>;
  return typeof orderId === "string" && typeof attemptId === "string" ? { orderId, attemptId } : null;
}

/** @throws if a payment belongs to another order or attempt, so that it never pays for this one */
export function checkOwner(metadata: unknown, { orderId, attemptId }: RemainderRequest): void {
  const owner = ownerOf(metadata);
  if (owner?.orderId !== orderId || owner.attemptId !== attemptId)
    throw methodFault("foreign_payment", "The provider's payment belongs to another order or attempt.");
}

/** @throws if an answer has no id */
export function checkId(id: unknown): string {
  if (typeof id !== "string") throw methodFault("no_id", "The provider's answer has no id.");
  return id;
}

/** @throws if an order has no payment at this provider */
export function needed(id: string | null | undefined, provider: string): string {
  if (typeof id !== "string") throw methodFault("no_payment", `The order has no payment at ${provider}.`);
  return id;
}

/** Returns a stored id; undefined if nothing was kept. */
export function keptId(data: RemainderData | null, name: string): string | undefined {
  const id = data?.[name];
  return typeof id === "string" ? id : undefined;
}

/** Returns what is left of a payment after its refunds. */
export const leftOf = (receivedCents: number, refunds: readonly MadeRefund[]): number =>
  refunds.reduce((left, { hasFailed, amountCents }) => (hasFailed ? left : left - amountCents), receivedCents);

/** The error of an answer that contradicts itself or the answer before. The call is repeated later. */
export const contradiction = (): Error =>
  methodFault("contradiction", "The provider's answers about the payment contradict each other. It is asked again.");

/** How often one call acts on a payment that it cancels. */
const MOST_ACTIONS = 4;

/**
 * Cancels a payment step by step, until nothing is left to cancel. A single wrong answer must not leave money at the provider:
 * without an action before, two answers have to show that nothing is left.
 *
 * @param step cancels or refunds what the provider shows. Returns whether there was anything
 */
export async function untilCanceled(step: () => Promise<boolean>): Promise<void> {
  for (let actions = 0, isConfirmed = false; actions < MOST_ACTIONS; ) {
    const hasActed = await step();
    if (hasActed) actions += 1;
    else if (isConfirmed) return;
    isConfirmed = true;
  }
  throw contradiction();
}

/**
 * Refunds a part of a payment, unless one of its refunds does that already. The list of refunds is what makes this
 * idempotent: a provider forgets idempotency keys after hours or days. A part is refunded again only if two lists show that
 * its refund has failed. If less is left than the part, because of a refund in the provider's dashboard, that is refunded.
 *
 * @param receivedAgain reads again how much was received
 * @param list lists the refunds
 * @param create makes a refund of an amount
 * @returns the cents of the part that were returned elsewhere
 * @throws if the refund failed at once
 */
export async function refundPart(
  receivedCents: number,
  receivedAgain: () => Promise<number>,
  list: () => Promise<readonly MadeRefund[]>,
  part: RemainderPart,
  create: (idempotencyKey: string, amountCents: number) => Promise<MadeRefund>,
): Promise<number> {
  const refunds = await list();
  const left = leftOf(receivedCents, refunds);
  const isOfPart = ({ key }: MadeRefund) => key === part.idempotencyKey;
  const earlier = refunds.filter(isOfPart);
  const made = earlier.find(({ hasFailed }) => !hasFailed);
  if (made) return part.amountCents - made.amountCents;
  // A single wrong answer must not make a refund too small.
  if (left < part.amountCents && left !== leftOf(await receivedAgain(), await list())) throw contradiction();
  if (left <= 0) return part.amountCents;
  if (earlier.length > 0 && (await list()).some((refund) => isOfPart(refund) && !refund.hasFailed))
    throw contradiction();
  // The provider would answer a repeated key with the refund that failed.
  const suffix = earlier.length === 0 ? "" : `:${earlier.length}`;
  const amountCents = Math.min(left, part.amountCents);
  checkMade(await create(part.idempotencyKey + suffix, amountCents));
  return part.amountCents - amountCents;
}

/** @throws if a refund failed at once */
export function checkMade({ hasFailed }: MadeRefund): void {
  if (hasFailed) throw methodFault("refund_failed", "The refund failed at the provider.");
}

/** Returns the stored data of a paid order. @throws {TypeError} if it isn't paid */
export function dataToCapture(purchase: Purchase | null): { request: RemainderRequest; data: RemainderData } {
  const isPaid = purchase?.state === "paid" || purchase?.state === "refunding";
  if (!isPaid || purchase.remainderData === null)
    throw new TypeError("capture: the order isn't paid, or has no remainder.");
  const data = JSON.parse(purchase.remainderData) as RemainderData;
  const { orderId, attemptId, remainderCents, currency } = purchase;
  return { request: { orderId, attemptId, remainderCents, currency, data }, data };
}
