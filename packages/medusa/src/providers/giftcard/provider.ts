import { RefundError } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { type Charge, chargedStates } from "@giftcard-pay/checkout/store";
import type * as medusa from "@medusajs/framework/types";
import { AbstractPaymentProvider, MathBN, type MedusaError } from "@medusajs/framework/utils";
import { euro, isCents, toCents } from "../../amount.js";
import { type GiftcardContext, hasOrder, reverseUnordered } from "../../context/context.js";
import { refusal, toMedusaError } from "../../errors.js";
import { newCopy } from "../../medusa-tables/card-payments.js";
import { readRefunds } from "../../medusa-tables/order-refund.js";
import { isOfOrder } from "../../medusa-tables/payments.js";
import { LAST_FOUR, OWNER, referencesOf } from "../../names.js";

type Data = Record<string, unknown> | undefined;

/** A payment's charges, in the order in which they were sent; at least one. */
type Charges = readonly [Charge, ...Charge[]];

/**
 * Returns the copy of a payment that people read in Medusa. Nothing is decided by it: the journal is asked each time.
 */
export function copyOf(charges: Charges) {
  const [{ externalId, lastFour }] = charges;
  return {
    session_id: externalId,
    state: stateOf(charges),
    amount_cents: sumOf(charges),
    last_four: lastFour,
    charges: charges.map(({ reference, state, amountCents, sealedToken }) => ({
      reference,
      state,
      amount_cents: amountCents,
      sealed_token: sealedToken,
    })),
  };
}

/** Whether a completion has charged all of a session's charges, and still has their leases. */
export const isHeldBy = (charges: readonly Charge[], owner: string): boolean =>
  charges.every(({ state, leaseOwner }) => state === "devalued" && leaseOwner === owner);

const sumOf = (charges: readonly Charge[]) => charges.reduce((sum, { amountCents }) => sum + amountCents, 0);

/** A payment's state when its charges differ: the first state in this list that any of them is in. */
const states = `needs_attention unknown intent sent taken refused reversing reversed devalued committed captured`.split(
  " ",
) as Charge["state"][];

/** Returns a payment's state. Refunded charges count only if all were refunded. */
function stateOf(charges: Charges): Charge["state"] {
  const left = charges.filter(({ refundId }) => refundId === null);
  const counting = left.length > 0 ? left : charges;
  return states.find((state) => counting.some((charge) => charge.state === state)) ?? charges[0].state;
}

const statuses: Record<Charge["state"], medusa.PaymentSessionStatus> = {
  intent: "pending",
  sent: "pending",
  unknown: "pending",
  needs_attention: "pending",
  taken: "error",
  devalued: "authorized",
  committed: "authorized",
  captured: "captured",
  reversing: "canceled",
  reversed: "canceled",
  refused: "error",
};

const ordered = () => refusal("This gift card payment belongs to an order. Cancel or refund it instead.");

/**
 * Gift cards as a Medusa payment provider. It trusts only the journal: capturing confirms the charges, canceling and
 * refunding reverse them.
 */
export class GiftcardProvider extends AbstractPaymentProvider {
  static override identifier = "giftcard";
  readonly #giftcard: GiftcardContext;
  readonly #logger: medusa.Logger;

  constructor(container: { giftcard: GiftcardContext; logger: medusa.Logger }) {
    super(container);
    this.#giftcard = container.giftcard;
    this.#logger = container.logger;
  }

  /** Refuses unless the plugin itself creates a card's session. No page can write the context. */
  async initiatePayment({ data, context, amount }: medusa.InitiatePaymentInput): Promise<medusa.InitiatePaymentOutput> {
    const lastFour = (context as Record<string, unknown> | undefined)?.[LAST_FOUR];
    const id = String(data?.session_id);
    if (typeof lastFour !== "string") throw await explainNoSession(this.#giftcard.sql, id);
    return { id, status: "pending", data: newCopy(id, toCents(amount), lastFour) };
  }

  async updatePayment({ amount, currency_code, data }: medusa.UpdatePaymentInput): Promise<medusa.UpdatePaymentOutput> {
    const charges = await this.#find(data);
    if (charges && currency_code.toLowerCase() === "eur" && toCents(amount) === sumOf(charges)) {
      return { status: statuses[stateOf(charges)], data: copyOf(charges) };
    }
    throw refusal("A gift card payment can't be changed.");
  }

  /** Refuses unless a completion authorizes the session of a card that it has charged. */
  async authorizePayment({ data, context }: medusa.AuthorizePaymentInput): Promise<medusa.AuthorizePaymentOutput> {
    const charges = await this.#require(data);
    const owner = (context as Record<string, unknown> | undefined)?.[OWNER];
    // Medusa names the session in the context. Anybody may have written the session's data.
    const isOwn = typeof owner === "string" && charges[0].externalId === context?.idempotency_key;
    if (!isOwn || !isHeldBy(charges, owner)) throw unknownSession();
    return { status: "authorized", data: copyOf(charges) };
  }

  async capturePayment({ data }: medusa.CapturePaymentInput) {
    const charges = await this.#require(data);
    const state = stateOf(charges);
    if (state === "reversing" || state === "reversed" || state === "refused") {
      throw refusal("This gift card payment was reversed, and its money is back on the card. It can't be captured.");
    }
    await this.#convertErrors(() => this.#giftcard.engine.capture(charges[0].externalId));
    return { data: copyOf(await this.#require(data)) };
  }

  async cancelPayment({ data }: medusa.CancelPaymentInput) {
    const [{ externalId }] = await this.#require(data);
    const charges = await this.#convertErrors(() => this.#giftcard.engine.cancel(externalId));
    // Medusa asks for it if it has read the payment just before it was captured.
    if (charges.some(({ state }) => state === "captured"))
      throw refusal(
        "This gift card payment is captured: refund it instead. If Medusa shows it as authorized, capture it there first.",
      );
    return { data: copyOf(await this.#require(data)) };
  }

  /** Reverses the charges that add up to the amount: the ones that the refund names, or else the last ones. */
  async refundPayment({ data, amount, context }: medusa.RefundPaymentInput) {
    const charges = await this.#require(data);
    const id = context?.idempotency_key;
    if (id === undefined)
      throw refusal(
        "Medusa gave this refund no id, so it wasn't made. Upgrade Medusa, or refund it on the order's page.",
      );
    const [{ externalId }] = charges;
    await this.#convertErrors(() => makeRefund(this.#giftcard, externalId, { id, amount })).catch((error: unknown) => {
      throw error instanceof RefundError ? unlikeCharges(error, charges) : error;
    });
    // The refund is made, or owed. A failure now would make Medusa forget it.
    const now = await this.#find(data).catch(() => null);
    return { data: copyOf(now ?? charges) };
  }

  async deletePayment({ data }: medusa.DeletePaymentInput) {
    const charges = await this.#find(data);
    if (!charges) return { data: {} };
    if (hasOrder(charges)) throw ordered();
    await this.#convertErrors(() => reverseUnordered(this.#giftcard.engine, charges[0].externalId));
    const now = await this.#require(data);
    if (hasOrder(now)) throw ordered();
    return { data: copyOf(now) };
  }

  async retrievePayment({ data }: medusa.RetrievePaymentInput) {
    return { data: copyOf(await this.#require(data)) };
  }

  async getPaymentStatus({ data }: medusa.GetPaymentStatusInput): Promise<medusa.GetPaymentStatusOutput> {
    const charges = await this.#find(data);
    return charges ? { status: statuses[stateOf(charges)], data: copyOf(charges) } : { status: "pending" };
  }

  async getWebhookActionAndData(): Promise<medusa.WebhookActionResult> {
    return { action: "not_supported" };
  }

  async #find(data: Data): Promise<Charges | null> {
    const id = data?.session_id;
    if (typeof id !== "string") return null;
    const [first, ...others] = await this.#giftcard.engine.journal.chargesOfPayment(id);
    return first ? [first, ...others] : null;
  }

  async #require(data: Data): Promise<Charges> {
    const charges = await this.#find(data);
    if (!charges) throw unknownSession();
    return charges;
  }

  async #convertErrors<T>(action: () => Promise<T>): Promise<T> {
    return action().catch((error: unknown) => {
      throw error instanceof RefundError ? error : toMedusaError(error, this.#logger);
    });
  }
}

function unlikeCharges({ possibleCents }: RefundError, charges: Charges): MedusaError {
  const isByLine = charges.some(({ pieces }) => pieces !== null);
  const open = charges.filter(({ state }) => chargedStates.includes(state));
  const parts = open.map(({ amountCents }) => euro(amountCents)).join(", ");
  if (isByLine) {
    const nearest = possibleCents.map(euro).join(" or ");
    return refusal(
      `This gift card payment is refunded in the parts in which it was charged: ${parts} euro. ` +
        `${nearest === "" ? "" : `The nearest is ${nearest}. `}Nothing was refunded. ` +
        "To refund exactly what an order owes, use the button under Gift cards on the order's page.",
    );
  }
  return refusal(
    `A gift card payment that was charged at once is refunded as a whole: ${euro(sumOf(open))} euro. ` +
      "Nothing was refunded. Refund the order's other payment first. Pay out what is still owed in another way, such as " +
      "by a new gift card, or refund this payment as a whole.",
  );
}

const unknownSession = () => refusal("This gift card payment was not started by placing an order.");

/**
 * Makes a refund that Medusa has written down, and earlier ones that were begun and not made. Idempotent per refund.
 * @param asked the id of Medusa's refund, and its amount in major units
 * @returns the charges that were reversed for it, or whose reversal is owed
 * @throws {RefundError} if no charges add up to the amount
 * @throws {MedusaError} for an amount that isn't whole cents, or if there is no such payment
 */
export async function makeRefund(
  { engine, sql }: GiftcardContext,
  sessionId: string,
  asked: { readonly id: string; readonly amount: medusa.BigNumberInput },
): Promise<Charge[]> {
  const payment = await readRefunds(sql, sessionId);
  if (!payment) throw refusal("There is no such payment. Nothing was refunded. Reload the order.");
  const { refunds } = payment;
  const at = refunds.findIndex(({ id }) => id === asked.id);
  const before = at < 0 ? refunds : refunds.slice(0, at);
  const booked = [...refunds.map(({ id }) => id), asked.id];
  let left: medusa.BigNumberInput = payment.amount;
  const make = async (refund: { id: string; amount: medusa.BigNumberInput; metadata: unknown }) => {
    const { id, amount, metadata } = refund;
    if (!isCents(amount))
      throw refusal("A gift card is refunded in whole cents. Nothing was refunded. Enter an amount without fractions.");
    const charges = await engine.journal.chargesOfPayment(sessionId);
    const open = charges.filter(({ refundId }) => refundId === id || !booked.includes(refundId ?? ""));
    // A refund of everything that is left reverses all charges, whatever amount Medusa's books have come to.
    const isAll = MathBN.eq(amount, left);
    const amountCents = isAll ? open.reduce((sum, charge) => sum + charge.amountCents, 0) : toCents(amount);
    left = MathBN.sub(left, amount);
    return engine.refund(sessionId, { id, amountCents, references: referencesOf(metadata), booked });
  };
  for (const refund of before) await make(refund);
  return make({ ...asked, metadata: refunds[at]?.metadata ?? null });
}

/**
 * Explains why a gift card takes no payment session. A card is applied to a cart, so it can't be charged for a placed
 * order, such as for the difference after an edit.
 * @param id the id of the payment collection, or of its session
 */
export async function explainNoSession(sql: Sql, id: string): Promise<MedusaError> {
  const message = (await isOfOrder(sql, id))
    ? "A placed order takes no gift card. Pay the difference by another method, or mark it as paid."
    : "Apply a gift card to the cart; it is charged when the order is placed, and takes no session.";
  return refusal(message);
}
