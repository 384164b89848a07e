import Stripe from "stripe";
import { type PlayedStripe, startPlayedStripe } from "../../../../test/support/played-stripe.js";
import { stripe, stripeCheckout } from "../../src/methods/stripe.js";
import type { PayMood } from "./moods.js";
import type { MethodStep, OtherMethod } from "./other-method.js";
import { type Caller, eachOf, type Lie, type ProviderPayment, readAll, SimulatedProvider } from "./provider-method.js";

const VISA = "4242424242424242";
const DECLINED = "4000000000000002";
const RETURN_URL = (orderId: string) => `https://shop.example/orders/${orderId}`;

const status =
  (value: string): Lie =>
  () => ({ status: value });
const cents =
  (field: string, by: number): Lie =>
  (real) => ({ [field]: Math.max(0, Number(real[field] ?? 0) + by) });
const empty: Lie = () => null;
const foreign: Lie = () => ({ metadata: { orderId: "order_other", attemptId: "another" } });
const nothing: Lie = () => ({ metadata: {} });

const ofIntents: readonly Lie[] = [
  ...["requires_payment_method", "requires_action", "processing", "canceled", "succeeded", "requires_capture"].map(
    status,
  ),
  ...[status("unheard_of"), empty, foreign, nothing, () => ({ currency: "usd" })],
  ...[cents("amount_received", -1), cents("amount_received", 1), () => ({ amount_received: 0 })],
  ...[cents("amount_received", -500), cents("amount", 1)],
];
const ofSessions: readonly Lie[] = [
  ...["open", "complete", "expired"].map(status),
  ...[empty, foreign, nothing, () => ({ payment_intent: null })],
];
const ofRefunds: readonly Lie[] = [status("failed"), status("canceled"), empty, cents("amount", -1)];
/** A list that makes up refunds that were never made can't be seen through. */
const ofRefundLists: readonly Lie[] = [status("failed"), empty, cents("amount", -1), nothing];

/** A simulated Stripe, in the shop's page or on Stripe's. */
class StripeMethod extends SimulatedProvider {
  readonly hasPage: boolean;
  protected readonly operations;
  readonly #played: PlayedStripe;
  readonly #client: Stripe;
  /** Payments that earlier sequences have left. */
  readonly #past: { readonly intents: number; readonly events: number; readonly sessions: number };
  readonly #sessions: string[] = [];

  constructor(played: PlayedStripe, client: Stripe, hasPage: boolean) {
    super();
    this.#played = played;
    this.#client = client;
    this.hasPage = hasPage;
    this.#past = { intents: played.intents.all().length, events: played.events.length, sessions: 0 };
    const own = hasPage
      ? [
          { name: "session-create", lies: [empty] },
          { name: "session-retrieve", lies: ofSessions },
          { name: "session-expire", lies: ofSessions },
        ]
      : [
          { name: "create", lies: [empty] },
          { name: "confirm", lies: ofIntents.filter((lie) => lie !== empty) },
        ];
    this.operations = [
      ...own,
      { name: "retrieve", lies: ofIntents },
      { name: "cancel", lies: ofIntents },
      { name: "refund", lies: ofRefunds },
      { name: "refunds", lies: ofRefundLists },
    ];
  }

  protected adapter(call: Caller) {
    const { paymentIntents, refunds, checkout, webhooks } = this.#client;
    const { sessions } = checkout;
    const client = {
      paymentIntents: {
        create: (...args: Parameters<typeof paymentIntents.create>) =>
          call("create", () => paymentIntents.create(...args)),
        retrieve: (id: string, params: object, limits: object) =>
          call("retrieve", () => paymentIntents.retrieve(id, params, limits)),
        confirm: (id: string, params: object, limits: object) =>
          call("confirm", () => paymentIntents.confirm(id, params, limits)),
        cancel: (id: string, params: object, limits: object) =>
          call("cancel", () => paymentIntents.cancel(id, params, limits)),
      },
      refunds: {
        create: (params: object, limits: object) => call("refund", () => refunds.create(params, limits)),
        list: (params: object, limits: object) =>
          eachOf(() => call("refunds", () => readAll(refunds.list(params, limits)))),
      },
      checkout: {
        sessions: {
          create: (params: Stripe.Checkout.SessionCreateParams, limits: object) =>
            call("session-create", async () => {
              const session = await sessions.create(params, limits);
              this.#sessions.push(session.id);
              return session;
            }),
          retrieve: (id: string, params: object, limits: object) =>
            call("session-retrieve", () => sessions.retrieve(id, params, limits)),
          expire: (id: string, params: object, limits: object) =>
            call("session-expire", () => sessions.expire(id, params, limits)),
        },
      },
      webhooks,
    } as unknown as Stripe;
    const options = {
      client,
      webhookSecret: this.#played.webhookSecret,
      onAlert: (alert: (typeof this.alerts)[number]) => void this.alerts.push(alert),
      returnUrl: RETURN_URL,
    };
    return this.hasPage ? stripeCheckout(options) : stripe(options);
  }

  inputOf(mood: PayMood): unknown {
    const [first, paying] = this.hasPage ? ["session-create", "session-create"] : ["create", "confirm"];
    if (mood === "fail") this.setFault(first, "cut-before");
    if (mood === "fail-at-once") this.setFault(paying, "cut-before");
    if (mood === "hang") this.setFault(paying, "hang-before");
    if (mood === "authorize-then-fail") this.setFault(paying, "cut-after");
    if (mood === "authorize-then-hang") this.setFault(paying, "hang-after");
    if (mood === "authorize-then-garbage") this.setFault(paying, { lie: 6 });
    if (this.hasPage || mood === "page" || mood === "garbage") return undefined;
    return this.#played.intents.createToken(mood === "decline" ? DECLINED : VISA);
  }

  settle(orderId: string, state: "authorized" | "expired"): void {
    const isPaid = state === "authorized";
    if (this.hasPage) {
      for (const session of this.#openSessions(orderId)) {
        if (isPaid) this.#played.sessions.pay(session.id, VISA);
        else this.#played.sessions.expire(session.id);
      }
      return;
    }
    for (const { id } of this.#openIntents(orderId)) {
      try {
        this.#played.intents.confirm(id, this.#played.intents.createMethod(isPaid ? VISA : DECLINED).id);
      } catch (error) {
        // The declined card.
        if (isPaid) throw error;
      }
    }
  }

  #intents() {
    return this.#played.intents.all().slice(this.#past.intents);
  }

  #openIntents(orderId?: string) {
    const isOpen = ({ status }: { status: string }) =>
      ["requires_payment_method", "requires_confirmation", "requires_action"].includes(status);
    return this.#intents().filter(
      (intent) =>
        isOpen(intent) && this.shown.has(intent.id) && (orderId ?? intent.metadata.orderId) === intent.metadata.orderId,
    );
  }

  #openSessions(orderId?: string) {
    return this.#sessions
      .map((id) => this.#played.sessions.find(id))
      .filter(
        ({ id, status, metadata }) =>
          status === "open" && this.shown.has(id) && (orderId ?? metadata.orderId) === metadata.orderId,
      );
  }

  #events = () => this.#played.events.slice(this.#past.events);

  async #requestOf(event: object): Promise<Request> {
    const body = JSON.stringify(event);
    const signature = await this.#client.webhooks.generateTestHeaderStringAsync({
      payload: body,
      secret: this.#played.webhookSecret,
    });
    const headers = { "stripe-signature": signature };
    return new Request("https://shop.example/webhook", { method: "POST", headers, body });
  }

  async notification(which: number): Promise<Request | null> {
    const event = this.#events().at(-1 - which);
    return event ? this.#requestOf(event) : null;
  }

  lastNotifications(): Promise<Request[]> {
    const failed = this.#events().filter(({ type }) => type === "refund.failed");
    return Promise.all(failed.map((event) => this.#requestOf(event)));
  }

  closePages(): void {
    for (const id of this.#sessions)
      if (this.#played.sessions.find(id).status === "open") this.#played.sessions.expire(id);
  }

  isOwnError(error: unknown): boolean {
    return error instanceof Stripe.errors.StripeError || (error instanceof Error && error.constructor === Error);
  }

  protected payments(): ProviderPayment[] {
    const { intents, refunds } = this.#played;
    const open = new Set(this.#openIntents().map(({ id }) => id));
    return this.#intents().map(({ id, metadata }) => ({
      id,
      attemptId: metadata.attemptId ?? "",
      orderId: metadata.orderId ?? "",
      netCents: intents.heldCents(id) + intents.takenCents(id),
      isOpen: open.has(id),
      failedRefunds: refunds
        .all()
        .filter((refund) => refund.payment_intent === id && refund.status === "failed")
        .map((refund) => ({ id: refund.id, cents: refund.amount })),
    }));
  }

  protected meddle({ how, which }: MethodStep & { do: "meddle" }): void {
    if (how === "fail refund") {
      const own = new Set(this.#intents().map(({ id }) => id));
      const made = this.#played.refunds
        .all()
        .filter(({ payment_intent, status }) => own.has(payment_intent) && status === "succeeded");
      const refund = made[which % Math.max(1, made.length)];
      if (refund) this.#played.refunds.fail(refund.id);
      return;
    }
    const open = this.#openIntents();
    const intent = open[which % Math.max(1, open.length)];
    if (!intent) return;
    if (how === "currency") Object.assign(intent, { currency: "usd" });
    else this.#played.intents.update(intent.id, Math.max(50, intent.amount + (how === "more" ? 1 : -1)));
  }
}

/** Starts a simulated Stripe for the sequences of a place. @param hasPage whether the shopper pays on Stripe's page */
export async function openStripe(hasPage: boolean): Promise<{ newMethod(): OtherMethod; stop(): Promise<void> }> {
  const played = await startPlayedStripe();
  const { hostname: host, port } = new URL(played.url);
  const client = new Stripe(played.apiKey, { host, port: Number(port), protocol: "http", telemetry: false });
  return { newMethod: () => new StripeMethod(played, client, hasPage), stop: played.stop };
}
