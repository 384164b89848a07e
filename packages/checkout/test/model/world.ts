import { inspect } from "node:util";
import { cents, type GiftcardClient } from "@giftcard-pay/client";
import type { FaultProxy } from "../../../../test/support/fault-proxy.js";
import { type CartView, CheckoutError } from "../../src/index.js";
import type { ModelCard } from "./card-stock.js";
import type { OtherMethod } from "./other-method.js";
import { PlayedError } from "./played-error.js";
import { type CallContext, type OrderStory, ShopCalls } from "./shop-calls.js";
import { countCalls, type ObserverMood, type ShopProcess, startShopProcess } from "./shop-process.js";
import type { Stage } from "./stage.js";
import { CARTS, type Call, MAX_CARDS, ORDERS, type Setting, type Step } from "./steps.js";

/** A violation of a guarantee. `kind` is short and from a closed set; `text` has the details. */
export interface Violation {
  readonly kind: string;
  readonly text: string;
}

/** The setting of sequences: a shop's store, and its client of the service. */
export interface Place {
  readonly stage: Stage;
  readonly proxy: FaultProxy;
  /** The service's client through the proxy. */
  readonly client: GiftcardClient;
  /** Makes the other payment method of a sequence. */
  newMethod(): OtherMethod;
}

/** A pending call of the shop. */
interface Pending {
  readonly call: Call;
  readonly process: ShopProcess;
  readonly settled: Promise<unknown>;
}

const LONGEST_CALL_MS = 60_000;
const TIMES = ["createdAt", "sentAt", "devaluedAt", "reversedAt"];

/** A sequence: a shop with two processes, its bank, its service, and their results. */
export class World implements CallContext {
  readonly other: OtherMethod;
  readonly violations: Violation[] = [];
  readonly log: string[] = [];
  readonly steps: Step[] = [];
  /** The result of each call: a status, a code, or how it stopped. */
  readonly outcomes: string[] = [];
  readonly carts: CartView[];
  readonly orders: readonly OrderStory[];
  readonly spentElsewhere: number[];
  readonly setting: Setting;
  readonly cards: readonly ModelCard[];
  readonly stage: Stage;
  /** Whether a statement has failed, so that a process may have left its work undone. */
  hasDatabaseFailed = false;
  /** The number of orders that someone began to pay. */
  begunOrders = 0;
  readonly #proxy: FaultProxy;
  readonly #client: GiftcardClient;
  readonly #inFlight: ReadonlySet<Promise<unknown>>;
  readonly #calls: ShopCalls;
  readonly #processes: (ShopProcess | undefined)[] = [];
  /** Processes that stall or wait for the bank forever; others have replaced them. */
  readonly #stopped: ShopProcess[] = [];
  readonly #pending = new Set<Pending>();
  #observers: ObserverMood = "calm";

  constructor({ stage, proxy, client, newMethod }: Place, id: string, setting: Setting, cards: readonly ModelCard[]) {
    this.stage = stage;
    this.other = newMethod();
    this.#proxy = proxy;
    this.setting = setting;
    this.cards = cards;
    this.spentElsewhere = cards.map(() => 0);
    this.carts = Array.from({ length: CARTS }, (_, i) => ({
      id: `cart_${id}_${i}`,
      totalCents: cents(setting.totals[i] ?? 0),
      currency: "EUR",
    }));
    this.orders = Array.from({ length: ORDERS }, (_, i) => ({
      id: `order_${id}_${i}`,
      paid: [],
      isReverseAsked: false,
      isRefundAsked: false,
      isReturnAsked: false,
      isReverseDone: false,
      isRefundDone: false,
      refundedReferences: new Set<string>(),
    }));
    ({ client: this.#client, inFlight: this.#inFlight } = countCalls(client));
    this.#calls = new ShopCalls(this);
  }

  violate(kind: string, text: string): void {
    this.violations.push({ kind, text });
    this.log.push(`!! ${kind}: ${text}`);
  }

  /** Starts a process of the shop. */
  start(): ShopProcess {
    return startShopProcess({
      stage: this.stage,
      client: this.#client,
      other: this.other,
      observers: () => this.#observers,
      onTrouble: (kind) => {
        if (kind.startsWith("fail")) this.hasDatabaseFailed = true;
      },
      onUnhandled: () => this.violate("a rejection ends the process", "an observer's"),
    });
  }

  #process(index: number): ShopProcess {
    return (this.#processes[index] ??= this.start());
  }

  async begin(): Promise<void> {
    this.#proxy.clear();
    this.#proxy.seen.splice(0);
    await this.stage.reset();
    for (const [cart, card] of this.setting.applied)
      await this.#callAll([{ do: "apply", cart, card, process: 0, trouble: null }]);
    if (!this.setting.isBought) return;
    const of = { order: 0, process: 0, trouble: null } as const;
    await this.#callAll([{ do: "commit", cart: 0, pay: "authorize", expect: "nothing", ...of }]);
    await this.#callAll([{ do: "confirm", ...of }]);
  }

  async take(step: Step): Promise<void> {
    this.steps.push(step);
    this.log.push(`> ${JSON.stringify(step)}`);
    switch (step.do) {
      case "call":
        return this.#callAll(step.calls);
      case "total":
        this.carts[step.cart] = { ...(this.carts[step.cart] as CartView), totalCents: cents(step.cents) };
        return;
      case "shopper":
        return this.other.settle(this.orders[step.order]?.id ?? "", step.to);
      case "clock":
        return this.stage.advance(step.minutes);
      case "service":
        return this.#proxy.set(step.operation, step.fault, step.times);
      case "deliver late calls":
        await this.other.release();
        return this.#proxy.release();
      case "provider":
      case "meddle":
        return this.other.take(step);
      case "observers":
        this.#observers = step.mood;
        return;
      case "spend elsewhere":
        return this.#spend(step.card, step.cents);
      case "block":
        return this.cards[step.card]?.setBlocked(step.isBlocked);
      case "kill":
        this.#processes[step.process]?.gate.die();
        delete this.#processes[step.process];
        return;
      case "thaw":
        for (const { gate } of this.#stopped.splice(0)) gate.thaw();
        // Their remaining work continues concurrently with the next steps.
        return;
    }
  }

  async #spend(index: number, cents: number): Promise<void> {
    const taken = await this.cards[index]?.spend(cents);
    this.spentElsewhere[index] = (this.spentElsewhere[index] ?? 0) + (taken ?? 0);
  }

  /** Makes concurrent calls, and waits until each has returned, died or stalled. */
  async #callAll(calls: readonly Call[]): Promise<void> {
    const [first] = calls;
    if (first) this.#process(first.process).gate.set(first.trouble);
    await Promise.all(calls.map((call) => this.#callOne(call)));
    for (const process of this.#processes) process?.gate.set(null);
    if (calls.some((call) => call.do.startsWith("apply"))) await this.#checkCarts();
  }

  async #callOne(call: Call): Promise<void> {
    const process = this.#process(call.process);
    const settled = this.#calls.make(call, process).then(
      (answer) => {
        this.outcomes.push(`${call.do}: ${statusOf(answer)}`);
        this.log.push(`  ${call.do}: ${short(answer)}`);
      },
      (error: unknown) => this.#judgeError(call, error),
    );
    const pending = { call, process, settled };
    this.#pending.add(pending);
    void settled.then(() => this.#pending.delete(pending));
    const end = await Promise.race([settled, process.gate.stopped]);
    if (end !== "dead" && end !== "waiting") return;
    this.outcomes.push(`${call.do}: ${end}`);
    this.log.push(`  ${call.do}: ${end}`);
    if (end === "waiting" && !this.#stopped.includes(process)) this.#stopped.push(process);
    // A new process of the shop replaces it.
    if (this.#processes[call.process] === process) delete this.#processes[call.process];
  }

  #judgeError(call: Call, error: unknown): void {
    this.outcomes.push(`${call.do}: ${error instanceof CheckoutError ? error.code : "another error"}`);
    this.log.push(`  ${call.do}: ${error instanceof CheckoutError ? error.code : String(error)}`);
    const text = inspect(error, { depth: 6 });
    if (this.cards.some(({ cardNumber, pin }) => text.includes(cardNumber) || text.includes(`"${pin}"`)))
      this.violate("a secret in an error", call.do);
    if (this.#calls.isDocumented(call, error)) return;
    const what = error instanceof PlayedError ? `the ${error.by}'s error` : "an unnamed error";
    this.violate(`${call.do} threw ${what}`, text);
  }

  async #checkCarts(): Promise<void> {
    for (const { id } of this.carts) {
      const cards = (await this.stage.cardsOf(id)).map((row) => row.last_four);
      if (cards.length > MAX_CARDS) this.violate("too many cards", `${cards.length} on a cart, of ${MAX_CARDS}`);
      if (new Set(cards).size < cards.length) this.violate("one card twice", "on one cart");
    }
  }

  /** Checks that no devalue is sent twice. */
  checkDevalues(): void {
    const devalues = this.#proxy.seen.filter(({ operation }) => operation === "devalue");
    const keys = devalues.map(({ idempotencyKey }) => idempotencyKey);
    if (keys.includes(undefined)) this.violate("a devalue without a key", "");
    if (new Set(keys).size < keys.length) this.violate("a devalue was sent twice", keys.join(" "));
  }

  /** Ends all faults: resumes stalled processes, delivers late responses, and ends processes that wait forever. */
  async calm(): Promise<void> {
    this.#observers = "calm";
    await this.other.calm();
    for (const card of this.cards) await card.setBlocked(false);
    this.#proxy.clear();
    await this.#proxy.release();
    for (const { gate } of this.#stopped) gate.thaw();
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(resolve, LONGEST_CALL_MS, "late" as const);
    const pending = [...this.#pending];
    for (const { call, process, settled } of pending) {
      const end = await Promise.race([settled, process.gate.stopped, late]);
      if (end === "late") this.violate("a call never ends", JSON.stringify(call));
    }
    clearTimeout(timer);
    for (const { process } of pending) process.gate.die();
    for (const process of this.#processes.splice(0)) process?.gate.die();
    while (this.#inFlight.size > 0) {
      await Promise.race([...this.#inFlight]);
      await this.#proxy.release();
    }
    await this.other.release();
  }
}

function statusOf(answer: unknown): string {
  const { status } = (answer ?? {}) as { status?: unknown };
  return typeof status === "string" ? status : "done";
}

function short(value: unknown): string {
  const text = JSON.stringify(value, (key, v) => (TIMES.includes(key) ? undefined : v)) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
