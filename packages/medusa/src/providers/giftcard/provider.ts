import type { Attempt } from "@giftcard-pay/checkout";
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
import { toMedusaError } from "../../errors.js";
import type { GiftcardService } from "../../modules/giftcard/service.js";

type Data = Record<string, unknown> | undefined;

/** What people read of a payment. Nothing is decided by it: the journal is asked each time. */
function copyOf(attempt: Attempt) {
  return {
    session_id: attempt.externalId,
    reference: attempt.reference,
    state: attempt.state,
    amount_cents: attempt.amountCents,
    last_four: attempt.lastFour,
    sealed_token: attempt.sealedToken,
  };
}

const statuses: Record<Attempt["state"], PaymentSessionStatus> = {
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

const refusal = (message: string, code?: string) =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, message, code);

/** Gift cards as a Medusa payment provider: authorize devalues, capture confirms, cancel and refund reload the card. */
export class GiftcardProvider extends AbstractPaymentProvider {
  static override identifier = "giftcard";
  readonly #giftcard: GiftcardService;

  constructor(container: { giftcard: GiftcardService }) {
    super(container);
    this.#giftcard = container.giftcard;
  }

  async initiatePayment({
    amount,
    currency_code,
    data,
  }: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const expected = this.#giftcard.expectedSession();
    const fits =
      expected && currency_code.toLowerCase() === "eur" && toCents(amount) === expected.amountCents;
    if (!fits)
      throw refusal(
        "A gift card is applied to the cart, and charged when the order is placed.",
        "invalid_request",
      );
    const id = String(data?.session_id);
    const { amountCents, lastFour } = expected;
    expected.onCreated(id);
    return {
      id,
      status: "pending",
      data: { session_id: id, state: "intent", amount_cents: amountCents, last_four: lastFour },
    };
  }

  async updatePayment({ amount, currency_code, data }: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const attempt = await this.#find(data);
    if (attempt && currency_code.toLowerCase() === "eur" && toCents(amount) === attempt.amountCents) {
      return { status: statuses[attempt.state], data: copyOf(attempt) };
    }
    throw refusal("A gift card payment can't be changed.", "invalid_request");
  }

  async authorizePayment({ data, context }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    // Medusa names the session in the context; the data of a session is what somebody wrote there.
    const reference = await this.#referenceOf(context?.idempotency_key, data);
    const devalued = await this.#run(() => this.#giftcard.engine.devalue(reference));
    return { status: "authorized", data: copyOf(devalued) };
  }

  async capturePayment({ data }: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const { reference, state } = await this.#require(data);
    if (state === "reversing" || state === "reversed" || state === "refused") {
      throw refusal(
        "This gift card payment was undone, and its money is on the card again. It can't be captured.",
      );
    }
    return { data: copyOf(await this.#run(() => this.#giftcard.engine.capture(reference))) };
  }

  async cancelPayment({ data }: CancelPaymentInput): Promise<CancelPaymentOutput> {
    const { reference } = await this.#require(data);
    return { data: copyOf(await this.#run(() => this.#giftcard.engine.reverse(reference, "canceled"))) };
  }

  async refundPayment({ data, amount }: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const { reference, amountCents } = await this.#require(data);
    if (toCents(amount) !== amountCents) {
      const whole = (amountCents / 100).toFixed(2);
      throw refusal(
        `A gift card payment is refunded as a whole: ${whole} euro. Nothing was refunded. Refund the order's other ` +
          "payment first; what is still owed then is paid out in another way, such as a new gift card, or by " +
          "refunding this payment as a whole.",
        "invalid_request",
      );
    }
    return { data: copyOf(await this.#run(() => this.#giftcard.engine.reverse(reference, "refunded"))) };
  }

  async deletePayment({ data }: DeletePaymentInput): Promise<DeletePaymentOutput> {
    const attempt = await this.#find(data);
    if (!attempt) return { data: {} };
    if (attempt.state === "committed" || attempt.state === "captured") {
      throw refusal("This gift card payment belongs to an order. Cancel or refund it instead.");
    }
    // The completion that charged it fails when it finds this out; an attempt still on its way is ended by recovery.
    if (attempt.state !== "devalued") return { data: copyOf(attempt) };
    return {
      data: copyOf(
        await this.#run(() => this.#giftcard.engine.reverse(attempt.reference, "session_deleted")),
      ),
    };
  }

  async retrievePayment({ data }: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return { data: copyOf(await this.#require(data)) };
  }

  async getPaymentStatus({ data }: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const attempt = await this.#find(data);
    return attempt ? { status: statuses[attempt.state], data: copyOf(attempt) } : { status: "pending" };
  }

  /** The service sends no webhooks. */
  async getWebhookActionAndData(): Promise<WebhookActionResult> {
    return { action: "not_supported" };
  }

  async #find(data: Data): Promise<Attempt | null> {
    const id = data?.session_id;
    return typeof id === "string" ? this.#giftcard.engine.journal.attemptByExternalId(id) : null;
  }

  async #referenceOf(sessionId: string | undefined, data: Data): Promise<string> {
    const expected = this.#giftcard.expectedCharge();
    if (expected && expected.sessionId === sessionId) return expected.reference;
    const { externalId, reference } = await this.#require(data);
    if (externalId !== sessionId) throw unknownSession();
    return reference;
  }

  async #require(data: Data): Promise<Attempt> {
    const attempt = await this.#find(data);
    if (!attempt) throw unknownSession();
    return attempt;
  }

  async #run(action: () => Promise<Attempt>): Promise<Attempt> {
    return action().catch((error: unknown) => {
      throw toMedusaError(error);
    });
  }
}

const unknownSession = () =>
  refusal(
    "This gift card payment was not started by placing an order. Nothing was taken.",
    "invalid_request",
  );
