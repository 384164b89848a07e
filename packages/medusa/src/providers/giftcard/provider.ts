import { type Charge, CheckoutError, orderedStates } from "@giftcard-pay/checkout";
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
import { isWhole, toCents } from "../../amount.js";
import type { GiftcardContext } from "../../context/context.js";
import { toMedusaError } from "../../errors.js";
import { readPaymentAmount } from "../../medusa-tables/payments.js";
import { LAST_FOUR } from "../../names.js";

type Data = Record<string, unknown> | undefined;

/** What people read of a payment. Nothing is decided by it: the journal is asked each time. */
function copyOf(charge: Charge) {
  return {
    session_id: charge.externalId,
    reference: charge.reference,
    state: charge.state,
    amount_cents: charge.amountCents,
    last_four: charge.lastFour,
    sealed_token: charge.sealedToken,
  };
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
    if (typeof lastFour !== "string" || currency_code.toLowerCase() !== "eur")
      throw refusal("A gift card is applied to the cart, and charged when the order is placed.");
    const id = String(data?.session_id);
    return {
      id,
      status: "pending",
      data: { session_id: id, state: "intent", amount_cents: toCents(amount), last_four: lastFour },
    };
  }

  async updatePayment({ amount, currency_code, data }: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const charge = await this.#find(data);
    if (charge && currency_code.toLowerCase() === "eur" && toCents(amount) === charge.amountCents) {
      return { status: statuses[charge.state], data: copyOf(charge) };
    }
    throw refusal("A gift card payment can't be changed.");
  }

  /** The completion has charged the card already: a session whose charge isn't `devalued` can't be authorized. */
  async authorizePayment({ data, context }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const charge = await this.#require(data);
    // Medusa names the session in the context; the data of a session is what somebody wrote there.
    if (charge.externalId !== context?.idempotency_key) throw unknownSession();
    if (charge.state !== "devalued") throw toMedusaError(new CheckoutError("payment_in_progress"));
    return { status: "authorized", data: copyOf(charge) };
  }

  async capturePayment({ data }: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const { reference, state } = await this.#require(data);
    if (state === "reversing" || state === "reversed" || state === "refused") {
      throw refusal(
        "This gift card payment was reversed, and its money is on the card again. It can't be captured.",
      );
    }
    return { data: copyOf(await this.#run(() => this.#giftcard.engine.capture(reference))) };
  }

  async cancelPayment({ data }: CancelPaymentInput): Promise<CancelPaymentOutput> {
    const { reference } = await this.#require(data);
    const charge = await this.#run(() => this.#giftcard.engine.cancel(reference));
    // Medusa asks for it where it has read the payment just before it was captured.
    if (charge.state === "captured")
      throw refusal(
        "This gift card payment is captured: it is refunded, not canceled. Where Medusa shows it as authorized, capture it there.",
      );
    return { data: copyOf(charge) };
  }

  async refundPayment({ data, amount }: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const { reference, amountCents, externalId } = await this.#require(data);
    if (!isWhole(amount, (await readPaymentAmount(this.#giftcard.runSql, externalId)) ?? 0)) {
      const whole = (amountCents / 100).toFixed(2);
      throw refusal(
        `A gift card payment is refunded as a whole: ${whole} euro. Nothing was refunded. Refund the order's other ` +
          "payment first; what is still owed then is paid out in another way, such as a new gift card, or by " +
          "refunding this payment as a whole.",
      );
    }
    return { data: copyOf(await this.#run(() => this.#giftcard.engine.reverse(reference, "refunded"))) };
  }

  async deletePayment({ data }: DeletePaymentInput): Promise<DeletePaymentOutput> {
    const charge = await this.#find(data);
    if (!charge) return { data: {} };
    if (orderedStates.includes(charge.state)) {
      throw refusal("This gift card payment belongs to an order. Cancel or refund it instead.");
    }
    // The completion that charged it fails when it finds this out; a charge still on its way is ended by recovery.
    if (charge.state !== "devalued") return { data: copyOf(charge) };
    return {
      data: copyOf(await this.#run(() => this.#giftcard.engine.reverse(charge.reference, "session_deleted"))),
    };
  }

  async retrievePayment({ data }: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return { data: copyOf(await this.#require(data)) };
  }

  async getPaymentStatus({ data }: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const charge = await this.#find(data);
    return charge ? { status: statuses[charge.state], data: copyOf(charge) } : { status: "pending" };
  }

  /** The service sends no webhooks. */
  async getWebhookActionAndData(): Promise<WebhookActionResult> {
    return { action: "not_supported" };
  }

  async #find(data: Data): Promise<Charge | null> {
    const id = data?.session_id;
    return typeof id === "string" ? this.#giftcard.engine.journal.chargeByExternalId(id) : null;
  }

  async #require(data: Data): Promise<Charge> {
    const charge = await this.#find(data);
    if (!charge) throw unknownSession();
    return charge;
  }

  async #run(action: () => Promise<Charge>): Promise<Charge> {
    return action().catch((error: unknown) => {
      throw toMedusaError(error, this.#logger);
    });
  }
}

const unknownSession = () => refusal("This gift card payment was not started by placing an order.");
