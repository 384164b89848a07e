import { type Checkout, CheckoutError, createCheckout } from "../../src/index.js";
import { type CheckoutStore, StoreError } from "../../src/store/index.js";
import type { TestCard } from "../../testing/issuer-books.js";
import { Bank, type PayInput, type Payment } from "./bank.js";
import { Clock } from "./clock.js";
import { Issuer } from "./issuer.js";
import type { MemoryStore, Row } from "./memory-store.js";
import { Network, Process } from "./network.js";
import type { CartChange, Plan, Visit } from "./plan.js";
import { mix } from "./random.js";
import { Cart, type Shown, type Story } from "./story.js";
import { Watch, type Watched } from "./watch.js";

/** A broken promise. */
export interface Violation {
  readonly kind: string;
  readonly text: string;
}

const sealingKeys = [{ id: "k", key: Buffer.alloc(32, 7).toString("base64") }];
/** How many processes run at the same time. */
const PROCESSES = 3;

/** A shop of several processes with its store, its issuer and its bank, for one history. */
export class World implements Watched {
  readonly clock = new Clock();
  readonly network: Network;
  readonly issuer: Issuer;
  readonly bank: Bank;
  readonly watch: Watch;
  readonly stories: Story[];
  readonly violations: Violation[] = [];
  readonly lines: string[] = [];
  /** The attempts that were paid on the bank's page in time. */
  readonly inTime = new Set<string>();
  /** Cents that were taken off cards in other shops. */
  readonly spentCents = new Map<TestCard, number>();
  readonly #running: { process: Process; checkout: Checkout }[] = [];
  #started = 0;

  /** @param isTold whether to keep a log */
  constructor(
    readonly plan: Plan,
    readonly memory: MemoryStore,
    private readonly isTold: boolean,
  ) {
    this.network = new Network(this.clock, plan, this.log);
    this.watch = new Watch(this);
    this.issuer = new Issuer(this.network, this.watch, plan.hasKeys);
    this.bank = new Bank(this.network, this.watch, plan);
    const carts: Cart[] = [];
    this.stories = plan.orders.map(({ goods: first, sharesCart }, index) => {
      const cart = (sharesCart && carts.at(-1)) || new Cart(`cart${index}`, first);
      carts.push(cart);
      const told = {
        isUnshown: false,
        isCanceled: false,
        isCardsRefundAsked: false,
        refusals: [],
        refunded: new Map<string, number>(),
      };
      return { id: `order${index}`, cart, agreed: new Set<string>(), ...told };
    });
  }

  readonly log = (line: string): void => {
    if (!this.isTold) return;
    const seconds = ((this.clock.now - this.clock.startedAt) / 1000).toFixed(3);
    this.lines.push(`${seconds.padStart(10)} ${line}`);
  };

  violate(kind: string, text: string): void {
    this.log(`VIOLATION: ${kind}: ${text}`);
    this.violations.push({ kind, text });
  }

  /** Issues the cards, and applies them to their carts, before anything goes wrong. */
  async open(): Promise<void> {
    for (const cardCents of this.plan.cardsCents) this.issuer.issue(cardCents);
    const { checkout } = this.#start(-1, this.memory.store);
    this.network.hasFaults = false;
    let isDone = false;
    const apply = async () => {
      for (const [index, { cards }] of this.plan.orders.entries()) {
        const { cart } = this.stories[index] as Story;
        for (const card of new Set(cards))
          await checkout.apply(cart.view, this.card(card)).catch((error: unknown) => {
            if (!(error instanceof CheckoutError)) this.violate("a card can't be applied", String(error));
            this.log(`not applied: ${String(error)}`);
          });
        cart.shown = await checkout.list(cart.view);
      }
      isDone = true;
    };
    await this.clock.turn(new Process(-1), () => void apply());
    while (!isDone) await this.clock.run();
    this.network.hasFaults = true;
  }

  card(index: number) {
    const { cards } = this.issuer;
    return cards[index % cards.length] as (typeof cards)[number];
  }

  story(index: number): Story {
    return this.stories[index % this.stories.length] as Story;
  }

  /** Returns a process of the shop, a new one if it has died. */
  process(index: number): { process: Process; checkout: Checkout } {
    const running = this.#running[index];
    if (running?.process.isAlive) return running;
    this.#started += running ? 1 : 0;
    const started = this.#start(running ? PROCESSES + this.#started : index);
    this.#running[index] = started;
    return started;
  }

  /** Ends all processes: nothing of them goes on. */
  endAll(): void {
    for (const running of this.#running) if (running) running.process.isAlive = false;
  }

  #start(id: number, direct?: CheckoutStore) {
    const process = new Process(id);
    const { plan } = this;
    const checkout = createCheckout({
      ...{ issuer: this.issuer.of(process), store: direct ?? this.#storeOf(process), remainder: this.bank.of(process) },
      ...{ sealingKeys, maxChargesPerCard: plan.maxChargesPerCard, leastRemainderCents: plan.leastRemainderCents },
      leaseMs: plan.leaseMs,
      charges: plan.byLine ? "by-line" : "whole",
      onFailure: () => {},
    });
    return { process, checkout };
  }

  /** The store as a process calls it. */
  #storeOf(process: Process): CheckoutStore {
    const { journal, purchases } = this.memory.store;
    const part = <Part extends object>(real: Part) =>
      new Proxy(real, {
        get: (target, name) => {
          const method = Reflect.get(target, name);
          if (typeof method !== "function") return method;
          return (...args: unknown[]) =>
            this.network.call(process, {
              ...{ place: "store" as const, isUnlimited: true },
              ...{ name: this.isTold ? told(name, args) : String(name) },
              act: async () => {
                const leased = this.watch.leaseOf(String(name), args);
                const result: unknown = await Reflect.apply(method, target, args);
                this.watch.written(String(name), args, result, leased);
                return result;
              },
              failure: () => new StoreError("connection_lost", "memory"),
            });
        },
      });
    return { journal: part(journal), purchases: part(purchases) };
  }

  /** The shopper visits the bank's page, and the bank notifies the shop. */
  opened(payment: Payment, { visit }: PayInput): void {
    const { outcome, afterMs, noticesAfterMs } = visit as Visit;
    const visited = () => {
      if (payment.state === "open" && outcome !== "leaves")
        payment.state = outcome === "pays" ? "authorized" : "declined";
      payment.isTakenLate ||= payment.state === "authorized" && payment.isGivenUp;
      if (payment.state === "authorized" && afterMs < 29 * 60_000) this.inTime.add(payment.attemptId);
      this.log(`the shopper ${outcome} on the page of ${payment.attemptId.slice(0, 8)}: ${payment.state}`);
      for (const [index, noticeMs] of noticesAfterMs.entries())
        this.clock.schedule(noticeMs, () => this.notify(payment, mix(afterMs, noticeMs, index) % PROCESSES));
    };
    this.clock.schedule(afterMs, visited);
  }

  /** The bank's notification of a payment. */
  noticeOf({ orderId, attemptId }: Payment): Request {
    const body = JSON.stringify({ orderId, attemptId, data: { payment: attemptId } });
    return { json: async () => JSON.parse(body) } as Request;
  }

  /** Whether a person has settled the remainder of an attempt elsewhere. */
  isSettled(purchase: Row | undefined, attemptId: string): boolean {
    if (purchase?.attempt_id === attemptId) return purchase.remainder_settled_by !== null;
    const earlier = JSON.parse(String(purchase?.earlier_attempts ?? "[]")) as {
      attemptId: string;
      remainderSettledBy?: string | null;
    }[];
    return typeof earlier.find((attempt) => attempt.attemptId === attemptId)?.remainderSettledBy === "string";
  }

  /** The bank notifies a process of a payment. It repeats a notice that fails. */
  async notify(payment: Payment, index: number, repeats = 3): Promise<void> {
    const { process, checkout } = this.process(index);
    const name = `p${process.id} is notified of ${payment.attemptId.slice(0, 8)}`;
    this.log(name);
    const made = () => {
      this.clock.current = process;
      void checkout.webhook(this.noticeOf(payment)).then(({ status }) => {
        this.log(`${name}: ${status}`);
        if (status === 400) this.violate("a notice isn't the bank's", payment.attemptId);
        if (status >= 500 && repeats > 0) this.clock.schedule(60_000, () => this.notify(payment, index, repeats - 1));
      });
    };
    if (process.frozenUntil > this.clock.now) this.clock.schedule(0, made, process);
    else made();
  }

  /** Shows the cart to its shopper, and perhaps changes it unseen. */
  async show(checkout: Checkout, story: Story, change: CartChange): Promise<Shown | undefined> {
    if (change === "another") story.cart = story.cart.another();
    const { cart } = story;
    if (change === "unknown") return undefined;
    if (change === "seen again" || !cart.shown) cart.shown = await checkout.list(cart.view);
    if (change === "changed unseen") cart.change();
    return cart.shown;
  }

  /** Takes money off a card in another shop. */
  spendElsewhere(card: TestCard, spentCents: number): void {
    card.balanceCents -= spentCents;
    this.spentCents.set(card, (this.spentCents.get(card) ?? 0) + spentCents);
  }

  /** Returns the id of the first attempt to pay an order. */
  firstAttempt(orderId: string): string | undefined {
    const purchase = this.purchase(orderId);
    const earlier = JSON.parse(String(purchase?.earlier_attempts ?? "[]")) as { attemptId: string }[];
    return earlier[0]?.attemptId ?? (purchase && String(purchase.attempt_id));
  }

  /** Makes a call in a process, and waits for its end. @returns undefined if it has failed */
  async ask<T>(index: number, make: (checkout: Checkout) => Promise<T>): Promise<T | undefined> {
    const { process, checkout } = this.process(index);
    let end: { value?: T } | undefined;
    const made = () =>
      void make(checkout).then(
        (value) => {
          end = { value };
        },
        (error: unknown) => {
          this.log(`p${process.id} fails: ${String(error)}`);
          end = {};
        },
      );
    await this.clock.turn(process, made);
    if (!end) await this.clock.run();
    if (!end) this.violate("a call never ends", make.toString().slice(0, 80));
    return end?.value;
  }

  purchase(orderId: string): Row | undefined {
    return this.memory.read("select * from giftcard_purchase where order_id = ?", orderId)[0];
  }

  /** Returns the references of an attempt's charges. */
  references(attemptId: string): string[] {
    const rows = this.memory.read("select reference from giftcard_charge where attempt_id = ?", attemptId);
    return rows.map(({ reference }) => String(reference));
  }

  /** Returns what the issuer and the bank hold of an attempt. */
  heldCents(attemptId: string): number {
    return this.issuer.heldCents(this.references(attemptId)) + this.bank.paidCents(attemptId);
  }
}

function told(name: string | symbol, args: readonly unknown[]): string {
  const text = args.map((arg) => JSON.stringify(arg)?.replaceAll(/"eyJ[^"]*"/g, '"sealed"') ?? "").join(", ");
  return `${String(name)}(${text.length > 240 ? `${text.slice(0, 240)}…` : text})`;
}
