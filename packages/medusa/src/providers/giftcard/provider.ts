import { CheckoutError, RefundError } from "@giftcard-pay/checkout";
import { type Charge, chargedStates, orderedStates } from "@giftcard-pay/checkout/store";
import { formatCents } from "@giftcard-pay/client";
import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  CancelPaymentInput,
  CancelPaymentOutput,
  CapturePaymentInput,
  CapturePaymentOutput,
  DeletePaymentInput,
  DeletePaymentOutput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  Logger,
  PaymentSessionStatus,
  RefundPaymentInput,
  RefundPaymentOutput,
  RetrievePaymentInput,
  RetrievePaymentOutput,
  UpdatePaymentInput,
  UpdatePaymentOutput,
  WebhookActionResult,
} from "@medusajs/framework/types";
import { AbstractPaymentProvider, MedusaError } from "@medusajs/framework/utils";
import { toCents } from "../../amount.js";
import type { GiftcardContext } from "../../context/context.js";
import { toMedusaError } from "../../errors.js";
import { LAST_FOUR } from "../../names.js";
import { makeRefund } from "./make-refund.js";
import { explainNoSession } from "./no-session.js";

type Data = Record<string, unknown> | undefined;

/** A payment's charges, as they were sent; at least one. */
type Charges = readonly [Charge, ...Charge[]];

/** What people read of a payment. Nothing is decided by it: the journal is asked each time. */
function copyOf(charges: Charges) {
  const [{ externalId, lastFour }] = charges;
  return {
    session_id: externalId,
    state: stateOf(charges),
    amount_cents: sumOf(charges),
    last_four: lastFour,
    charges: charges.map(({ reference, state, amountCents, sealedToken }) => ({
      ...{ reference, state, amount_cents: amountCents, sealed_token: sealedToken },
    })),
  };
}

const sumOf = (charges: readonly Charge[]) => charges.reduce((sum, { amountCents }) => sum + amountCents, 0);

/** What a payment is in, where its charges aren't in one state: the first of these that one of them has. */
const states = [
  ...["needs_attention", "unknown", "intent", "sent", "taken", "refused"],
  ...["reversing", "reversed", "devalued", "committed", "captured"],
] as readonly Charge["state"][];

/** What was refunded counts only where all of it was. */
function stateOf(charges: Charges): Charge["state"] {
  const left = charges.filter(({ refundId }) => refundId === null);
  const counting = left.length > 0 ? left : charges;
  return states.find((state) => counting.some((charge) => charge.state === state)) ?? charges[0].state;
}

const statuses: Record<Charge["state"], PaymentSessionStatus> = {
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

const refusal = (message: string) =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "invalid_request");

/** Gift cards as a Medusa payment provider: authorize believes the journal, capture confirms, cancel and refund reverse the charge. */
export class GiftcardProvider extends AbstractPaymentProvider {
  static override identifier = "giftcard";
  readonly #giftcard: GiftcardContext;
  readonly #logger: Logger;

  constructor(container: { giftcard: GiftcardContext; logger: Logger }) {
    super(container);
    this.#giftcard = container.giftcard;
    this.#logger = container.logger;
  }

  async initiatePayment(input: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const { amount, currency_code, data } = input;
    const context = input.context as Record<string, unknown> | undefined;
    const lastFour = context?.[LAST_FOUR];
    const id = String(data?.session_id);
    if (typeof lastFour !== "string" || currency_code.toLowerCase() !== "eur")
      throw await explainNoSession(this.#giftcard.sql, id);
    return {
      id,
      status: "pending",
      data: { session_id: id, state: "intent", amount_cents: toCents(amount), last_four: lastFour },
    };
  }

  async updatePayment({ amount, currency_code, data }: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const charges = await this.#find(data);
    if (charges && currency_code.toLowerCase() === "eur" && toCents(amount) === sumOf(charges)) {
      return { status: statuses[stateOf(charges)], data: copyOf(charges) };
    }
    throw refusal("A gift card payment can't be changed.");
  }

  /** The completion has charged the card already: a session with a charge that isn't `devalued` can't be authorized. */
  async authorizePayment({ data, context }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const charges = await this.#require(data);
    // Medusa names the session in the context; the data of a session is what somebody wrote there.
    if (charges[0].externalId !== context?.idempotency_key) throw unknownSession();
    if (charges.some(({ state }) => state !== "devalued"))
      throw toMedusaError(new CheckoutError("payment_in_progress"));
    return { status: "authorized", data: copyOf(charges) };
  }

  async capturePayment({ data }: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const charges = await this.#require(data);
    const state = stateOf(charges);
    if (state === "reversing" || state === "reversed" || state === "refused") {
      throw refusal(
        "This gift card payment was reversed, and its money is on the card again. It can't be captured.",
      );
    }
    await this.#run(() => this.#giftcard.engine.capture(charges[0].externalId));
    return { data: copyOf(await this.#require(data)) };
  }

  async cancelPayment({ data }: CancelPaymentInput): Promise<CancelPaymentOutput> {
    const [{ externalId }] = await this.#require(data);
    const charges = await this.#run(() => this.#giftcard.engine.cancel(externalId));
    // Medusa asks for it where it has read the payment just before it was captured.
    if (charges.some(({ state }) => state === "captured"))
      throw refusal(
        "This gift card payment is captured: it is refunded, not canceled. Where Medusa shows it as authorized, capture it there.",
      );
    return { data: copyOf(await this.#require(data)) };
  }

  /** Gives back those charges that make up the amount: the ones that the refund names, or else the last ones. */
  async refundPayment({ data, amount, context }: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const charges = await this.#require(data);
    const id = context?.idempotency_key;
    if (id === undefined) throw refusal("This refund has no id of Medusa's, so it isn't made.");
    const [{ externalId }] = charges;
    await this.#run(() => makeRefund(this.#giftcard, externalId, { id, amount })).catch((error: unknown) => {
      throw error instanceof RefundError ? unlikeCharges(error, charges) : error;
    });
    // It is made, or owed: a failure now would have Medusa forget it.
    const now = await this.#find(data).catch(() => null);
    return { data: copyOf(now ?? charges) };
  }

  async deletePayment({ data }: DeletePaymentInput): Promise<DeletePaymentOutput> {
    const charges = await this.#find(data);
    if (!charges) return { data: {} };
    if (charges.some(({ state }) => orderedStates.includes(state))) {
      throw refusal("This gift card payment belongs to an order. Cancel or refund it instead.");
    }
    // The completion that charged it fails when it finds this out; a charge still on its way is ended by recovery.
    const charged = charges.filter(({ state }) => state === "devalued");
    for (const { reference } of charged)
      await this.#run(() => this.#giftcard.engine.reverse(reference, "session_deleted"));
    return { data: copyOf(await this.#require(data)) };
  }

  async retrievePayment({ data }: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return { data: copyOf(await this.#require(data)) };
  }

  async getPaymentStatus({ data }: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const charges = await this.#find(data);
    return charges ? { status: statuses[stateOf(charges)], data: copyOf(charges) } : { status: "pending" };
  }

  /** The service sends no webhooks. */
  async getWebhookActionAndData(): Promise<WebhookActionResult> {
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

  async #run<T>(action: () => Promise<T>): Promise<T> {
    return action().catch((error: unknown) => {
      throw error instanceof RefundError ? error : toMedusaError(error, this.#logger);
    });
  }
}

/** Why an amount can't go back, and what to do. */
function unlikeCharges({ possibleCents }: RefundError, charges: Charges): MedusaError {
  const isByLine = charges.some(({ pieces }) => pieces !== null);
  const open = charges.filter(({ state }) => chargedStates.includes(state));
  const parts = open.map(({ amountCents }) => formatCents(amountCents)).join(", ");
  const euro = (cents: number) => formatCents(cents as Charge["amountCents"]);
  if (isByLine) {
    const nearest = possibleCents.map(euro).join(" or ");
    return refusal(
      `This gift card payment is refunded in the parts in which it was charged: ${parts} euro. ` +
        `${nearest === "" ? "" : `The nearest is ${nearest}. `}Nothing was refunded. ` +
        "What an order owes goes back rightly by the button under Gift cards on the order's page.",
    );
  }
  return refusal(
    `A gift card payment that was charged at once is refunded as a whole: ${euro(sumOf(open))} euro. ` +
      "Nothing was refunded. Refund the order's other payment first; what is still owed then is paid out in " +
      "another way, such as a new gift card, or by refunding this payment as a whole.",
  );
}

const unknownSession = () => refusal("This gift card payment was not started by placing an order.");
