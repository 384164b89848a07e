import { createMollieClient, MollieApiError, type MollieClient } from "@mollie/api-client";
import type { MollieAmount } from "../../../../test/support/mollie-payments.js";
import { type PlayedMollie, startPlayedMollie } from "../../../../test/support/played-mollie.js";
import { startTlsFront } from "../../../../test/support/tls-front.js";
import { mollie } from "../../src/methods/mollie.js";
import type { PayMood } from "./moods.js";
import type { MethodStep, OtherMethod } from "./other-method.js";
import { type Caller, eachOf, type Lie, type ProviderPayment, readAll, SimulatedProvider } from "./provider-method.js";

const status =
  (value: string): Lie =>
  () => ({ status: value });
const empty: Lie = () => null;
const nothing: Lie = () => ({ metadata: null });
const foreign: Lie = () => ({ metadata: { orderId: "order_other", attemptId: "another" } });
const amount =
  (byCents: number, currency?: string): Lie =>
  (real) => {
    const { value, currency: own } = (real.amount ?? { value: "0.00", currency: "EUR" }) as MollieAmount;
    const cents = Math.max(1, Math.round(Number(value) * 100) + byCents);
    return { amount: { value: (cents / 100).toFixed(2), currency: currency ?? own } };
  };

const ofPayments: readonly Lie[] = [
  ...["open", "pending", "authorized", "paid", "failed", "canceled", "expired", "unheard_of"].map(status),
  ...[empty, foreign, nothing, amount(1), amount(-1), amount(-500), amount(0, "USD")],
];
const ofRefunds: readonly Lie[] = [status("failed"), status("canceled"), empty];
const ofRefundLists: readonly Lie[] = [status("failed"), empty, amount(-1), nothing];

const centsOf = ({ value }: MollieAmount) => Math.round(Number(value) * 100);

/** A simulated Mollie. */
class MollieMethod extends SimulatedProvider {
  readonly hasPage = true;
  protected readonly operations = [
    { name: "create", lies: [empty] },
    { name: "get", lies: ofPayments },
    { name: "cancel", lies: ofPayments },
    { name: "refund", lies: ofRefunds },
    { name: "refunds", lies: ofRefundLists },
  ];
  readonly #played: PlayedMollie;
  readonly #client: MollieClient;
  /** The number of payments that earlier sequences have left. */
  readonly #past: number;

  constructor(played: PlayedMollie, client: MollieClient) {
    super();
    this.#played = played;
    this.#client = client;
    this.#past = played.payments.all().length;
  }

  protected adapter(call: Caller) {
    const { payments, paymentRefunds } = this.#client;
    const client = {
      payments: {
        create: (params: Parameters<typeof payments.create>[0]) => call("create", () => payments.create(params)),
        get: (id: string) => call("get", () => payments.get(id)),
        cancel: (id: string) => call("cancel", () => payments.cancel(id)),
        releaseAuthorization: (id: string) => payments.releaseAuthorization(id),
      },
      paymentRefunds: {
        create: (params: Parameters<typeof paymentRefunds.create>[0]) =>
          call("refund", () => paymentRefunds.create(params)),
        iterate: (params: Parameters<typeof paymentRefunds.iterate>[0]) =>
          eachOf(() => call("refunds", () => readAll(paymentRefunds.iterate(params)))),
      },
    } as unknown as MollieClient;
    return mollie({
      client,
      returnUrl: (orderId) => `https://shop.example/orders/${orderId}`,
      webhookUrl: "https://shop.example/webhook",
      onAlert: (alert) => void this.alerts.push(alert),
    });
  }

  inputOf(mood: PayMood): undefined {
    if (mood === "fail" || mood === "fail-at-once") this.setFault("create", "cut-before");
    if (mood === "hang") this.setFault("create", "hang-before");
    if (mood === "authorize-then-fail") this.setFault("create", "cut-after");
    if (mood === "authorize-then-hang") this.setFault("create", "hang-after");
    if (mood === "authorize-then-garbage") this.setFault("create", { lie: 0 });
  }

  #own() {
    return this.#played.payments.all().slice(this.#past);
  }

  #open(orderId?: string) {
    return this.#own().filter(
      ({ id, status, metadata }) =>
        ["open", "pending"].includes(status) &&
        this.shown.has(id) &&
        (orderId ?? metadata?.orderId) === metadata?.orderId,
    );
  }

  settle(orderId: string, state: "authorized" | "expired"): void {
    for (const { id } of this.#open(orderId)) this.#played.payments.pay(id, state === "authorized" ? "paid" : "failed");
  }

  #requestOf = (id: string) =>
    new Request("https://shop.example/webhook", { method: "POST", body: new URLSearchParams({ id }) });

  async notification(which: number): Promise<Request | null> {
    const payment = this.#own().at(-1 - which);
    return payment ? this.#requestOf(payment.id) : null;
  }

  async lastNotifications(): Promise<Request[]> {
    const failed = this.payments().filter(({ failedRefunds }) => failedRefunds.length > 0);
    return failed.map(({ id }) => this.#requestOf(id));
  }

  closePages(): void {
    for (const { id, status } of this.#own())
      if (status === "open" || status === "pending") this.#played.payments.pay(id, "expired");
  }

  isOwnError(error: unknown): boolean {
    return error instanceof MollieApiError || (error instanceof Error && error.constructor === Error);
  }

  protected payments(): ProviderPayment[] {
    const { payments } = this.#played;
    const open = new Set(this.#open().map(({ id }) => id));
    return this.#own().map(({ id, metadata }) => ({
      id,
      attemptId: metadata?.attemptId ?? "",
      orderId: metadata?.orderId ?? "",
      netCents: payments.heldCents(id),
      isOpen: open.has(id),
      failedRefunds: payments
        .refunds()
        .filter((refund) => refund.paymentId === id && refund.status === "failed")
        .map((refund) => ({ id: refund.id, cents: centsOf(refund.amount) })),
    }));
  }

  protected meddle({ how, which }: MethodStep & { do: "meddle" }): void {
    const { payments } = this.#played;
    if (how === "fail refund") {
      const own = new Set(this.#own().map(({ id }) => id));
      const made = payments.refunds().filter(({ paymentId, status }) => own.has(paymentId) && status === "pending");
      const refund = made[which % Math.max(1, made.length)];
      if (refund) payments.failRefund(refund.id);
      return;
    }
    const open = this.#open();
    const payment = open[which % Math.max(1, open.length)];
    if (!payment) return;
    if (how === "currency") payment.amount = { ...payment.amount, currency: "USD" };
    else {
      const cents = centsOf(payment.amount) + (how === "more" ? 1 : -1);
      payment.amount = { ...payment.amount, value: (Math.max(1, cents) / 100).toFixed(2) };
    }
  }
}

/** Starts a simulated Mollie for the sequences of a place. */
export async function openMollie(): Promise<{ newMethod(): OtherMethod; stop(): Promise<void> }> {
  const trusted = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  // The SDK trusts only the authorities that it contains.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  const played = await startPlayedMollie();
  const front = await startTlsFront(played.url);
  const client = createMollieClient({ apiKey: played.apiKey, apiEndpoint: `${front.url}/v2/` });
  return {
    newMethod: () => new MollieMethod(played, client),
    async stop() {
      await front.stop();
      await played.stop();
      if (trusted === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = trusted;
    },
  };
}
