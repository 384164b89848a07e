import { cents, GiftcardError } from "@giftcard-pay/client";
import { type Checkout, CheckoutError, type OrderLine, RefundError } from "../../src/index.js";
import { RemainderFault } from "../../src/remainder.js";
import { StoreError } from "../../src/store/index.js";
import { refundRules } from "../../src/store/purchase-store.js";
import type { Process } from "./network.js";
import type { Act, Deed } from "./plan.js";
import { agreement, type Story } from "./story.js";
import type { World } from "./world.js";

/** A person of the shop's staff. */
const STAFF = "staff";

/** Does what the people and jobs of a history want to do, and looks at what they are told. */
export class Deeds {
  readonly #open = new Map<Deed, Process>();
  constructor(private readonly world: World) {}

  /** Schedules everything. */
  begin(): void {
    const { orders, deeds } = this.world.plan;
    const payments = orders.map(({ payment }, order) => ({ ...payment, act: { ...payment.act, order } }));
    for (const deed of [...payments, ...deeds]) this.world.clock.schedule(deed.atMs, () => this.#do(deed));
  }

  /** Checks that all calls have ended whose processes live. */
  checkEnded(): void {
    for (const [{ act }, process] of this.#open)
      if (process.isAlive && !process.hasHung) this.world.violate("a call never ends", JSON.stringify(act));
  }

  #do(deed: Deed): void {
    const { world } = this;
    const { process, checkout } = world.process(deed.process);
    const name = `p${process.id} ${describe(deed.act)}`;
    world.log(`${name} …`);
    const run = () => {
      world.clock.current = process;
      this.#open.set(deed, process);
      void this.#make(deed.act, checkout).then(
        (answer) => {
          this.#open.delete(deed);
          world.log(`${name}: ${short(answer)}`);
        },
        (error: unknown) => {
          this.#open.delete(deed);
          world.log(`${name}: ${error instanceof Error ? `${error.name} ${codeOf(error)}` : String(error)}`);
          if (!isDocumented(error))
            world.violate("an undocumented error", `${name}: ${String((error as Error)?.stack)}`);
        },
      );
    };
    // A suspended process does it later.
    if (process.frozenUntil > world.clock.now) world.clock.schedule(0, run, process);
    else run();
  }

  async #make(act: Act, checkout: Checkout): Promise<unknown> {
    const { world } = this;
    switch (act.do) {
      case "recover":
        return checkout.recover({
          ...(act.deadlineMs !== null && { deadlineMs: act.deadlineMs }),
          ...(act.limit !== null && { limit: act.limit }),
        });
      case "retry charge":
      case "mark taken":
      case "mark not taken":
        return this.#decide(act.do, checkout);
      case "spend elsewhere": {
        const card = world.card(act.card);
        world.spendElsewhere(card, Math.min(card.balanceCents, 700));
        return "spent";
      }
      case "block": {
        const card = world.card(act.card);
        card.isBlocked = !card.isBlocked;
        return card.isBlocked;
      }
      default:
        return this.#makeOfOrder(act, world.story(act.order), checkout);
    }
  }

  async #makeOfOrder(
    act: Exclude<Act, { do: "recover" | "retry charge" | "mark taken" | "mark not taken" }>,
    story: Story,
    checkout: Checkout,
  ): Promise<unknown> {
    const { world } = this;
    const { id, cart } = story;
    switch (act.do) {
      case "pay":
        return this.#pay(act, story, checkout);
      case "confirm":
      case "abandon": {
        const result = await checkout[act.do](id);
        if (result.status === "paid") world.watch.checkPaid(id, `after ${act.do}`);
        return result;
      }
      case "assert paid": {
        const { totalCents } = cart.view;
        const askedAt = world.clock.now;
        const purchase = await checkout.assertPaid(id, totalCents);
        if (purchase.totalCents !== totalCents) world.violate("paid another total", String(purchase.totalCents));
        // While its process was suspended, staff may have refunded the order.
        if (world.clock.now - askedAt < 60_000) world.watch.checkPaid(id, "after assertPaid", true);
        return purchase.state;
      }
      case "paid by":
        return checkout.paidBy(id);
      case "cancel":
        return this.#cancel(act.attempt, story, checkout);
      case "refund lines":
      case "refund amount":
        return this.#refund(act, story, checkout);
      case "refund cards": {
        const rows = world.memory.read("select reference from giftcard_charge where order_id = ?", id);
        const reference = act.which === null ? undefined : rows[act.which % Math.max(1, rows.length)]?.reference;
        story.isCardsRefundAsked = true;
        const views = await checkout.refundCards(id, reference === undefined ? undefined : String(reference));
        return views.map(({ state }) => state);
      }
      case "apply":
        cart.shown = await checkout.apply(cart.view, world.card(act.card));
        return cart.shown;
      case "remove": {
        const { cards } = await checkout.list(cart.view);
        cart.shown = await checkout.remove(cart.view, cards.at(-1)?.id ?? "none");
        return cart.shown;
      }
      case "retry purchase":
        return (await checkout.operator.retryPurchase(id, STAFF))?.state;
      case "settle remainder":
        return (await checkout.operator.markRemainderSettled(id, STAFF))?.state;
      case "notify": {
        const payments = world.bank.ofOrder(id);
        const payment = payments[act.attempt % Math.max(1, payments.length)];
        return payment && checkout.webhook(world.noticeOf(payment)).then(({ status }) => status);
      }
      default:
        return undefined;
    }
  }

  async #pay(act: Act & { do: "pay" }, story: Story, checkout: Checkout): Promise<unknown> {
    const { world } = this;
    const shown = await world.show(checkout, story, act.cart);
    if (shown) story.agreed.add(agreement(shown));
    else story.isUnshown = true;
    const { view, lines } = story.cart;
    const { mood, visit } = act;
    const result = await checkout
      .pay({ id: story.id, cart: view, lines, plan: shown?.plan }, { input: { mood, visit } })
      .catch((error: unknown) => {
        story.refusals.push(codeOf(error as Error));
        throw error;
      });
    if (result.status === "declined") return result;
    const paidCents = result.cards.reduce((sum, { amountCents }) => sum + amountCents, result.remainderCents as number);
    if (paidCents !== view.totalCents) world.violate("paid another total", `${paidCents}, not ${view.totalCents}`);
    if (shown && result.remainderCents !== shown.remainderCents)
      world.violate("paid another remainder", `${result.remainderCents}, not ${shown.remainderCents}`);
    if (result.status === "paid") world.watch.checkPaid(story.id, "after pay");
    return result;
  }

  async #cancel(which: "any" | "first", story: Story, checkout: Checkout): Promise<unknown> {
    const { world } = this;
    const before = world.purchase(story.id);
    const attemptId = which === "first" ? world.firstAttempt(story.id) : undefined;
    const { state } = await checkout.cancel(story.id, attemptId);
    const after = world.purchase(story.id);
    const wasPaid = before?.state === "paid" && before.attempt_id === after?.attempt_id;
    const isMeant = attemptId === undefined || attemptId === before?.attempt_id;
    if (wasPaid && isMeant) {
      story.isCanceled = true;
      if (after?.state !== "canceling" && after?.state !== "canceled")
        world.violate("canceled, and isn't", `${story.id} is ${after?.state}`);
    }
    const isAlone = world.plan.deeds.every(({ act }) => act.do !== "cancel" || act.attempt === "first");
    const isLater = attemptId !== undefined && attemptId !== after?.attempt_id;
    if (isLater && isAlone && String(after?.state).startsWith("cancel"))
      world.violate("a later attempt is canceled", story.id);
    return state;
  }

  async #refund(act: Act & { do: "refund lines" | "refund amount" }, story: Story, checkout: Checkout) {
    const { world } = this;
    const id = `return${act.id}`;
    if (act.do === "refund amount") {
      const rule = refundRules[act.rule];
      const { refund: result } = await checkout.refund(story.id, { id, amountCents: cents(act.cents), rule });
      if (result.amountCents !== act.cents)
        world.violate("refunded another amount", `${result.amountCents}, not ${act.cents}`);
      return this.#tellRefund(story, id, result);
    }
    const returning: Record<string, number> = { a: act.units, ...(act.line > 0 && { b: 1 }) };
    const { refund: result } = await checkout.refund(story.id, { id, lines: returning });
    const lines = JSON.parse(String(world.purchase(story.id)?.lines)) as OrderLine[];
    const shareCents = lines.reduce(
      (sum, line) => sum + (line.totalCents * (returning[line.id] ?? 0)) / line.quantity,
      0,
    );
    if (Math.abs(result.amountCents - shareCents) >= lines.length)
      world.violate("units are refunded at another value", `${result.amountCents}, not ${shareCents}`);
    return this.#tellRefund(story, id, result);
  }

  #tellRefund(story: Story, id: string, result: Awaited<ReturnType<Checkout["refund"]>>["refund"]): unknown {
    const before = story.refunded.get(id);
    if (before !== undefined && before !== result.amountCents)
      this.world.violate("a repeated refund has another amount", `${result.amountCents}, not ${before}`);
    story.refunded.set(id, result.amountCents);
    return result;
  }

  /** A person decides about the first charge that needs it, according to the issuer's books. */
  async #decide(what: "retry charge" | "mark taken" | "mark not taken", { operator }: Checkout): Promise<unknown> {
    const { charges } = await operator.charges({ states: ["needs_attention"] });
    const charge = charges[0];
    if (!charge) return "nothing to decide";
    const { reference } = charge;
    if (what === "retry charge") return (await operator.retry(reference, STAFF))?.state;
    const isTaken = this.world.issuer.heldCents([reference]) > 0;
    if (isTaken !== (what === "mark taken")) return "not so";
    return (await (isTaken ? operator.markTaken(reference, STAFF) : operator.markNotTaken(reference, STAFF)))?.state;
  }
}

/** Whether the documentation names an error. */
const isDocumented = (error: unknown): boolean =>
  error instanceof CheckoutError ||
  error instanceof RefundError ||
  error instanceof RemainderFault ||
  error instanceof StoreError ||
  error instanceof GiftcardError ||
  (error instanceof Error && error.message.startsWith("the bank"));

const codeOf = (error: Error): string => ("code" in error ? String(error.code) : error.message);

const describe = (act: Act): string =>
  Object.entries(act)
    .map(([name, value]) => (name === "do" ? value : `${name} ${JSON.stringify(value)}`))
    .join(", ");

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 240 ? `${text.slice(0, 240)}…` : text;
}
