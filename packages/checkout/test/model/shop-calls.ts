import { cents } from "@giftcard-pay/client";
import { type CartView, CheckoutError, type OrderPayment, RefundError } from "../../src/index.js";
import { RemainderFault } from "../../src/remainder.js";
import type { ModelCard } from "./card-stock.js";
import type { OtherMethod } from "./other-method.js";
import { PlayedError } from "./played-error.js";
import type { ShopProcess } from "./shop-process.js";
import type { Stage } from "./stage.js";
import { type Call, MAX_CARDS } from "./steps.js";

/** The results and requests of an order that the final state has to match. */
export interface OrderStory {
  readonly id: string;
  /** The totals, and carts if known, that were returned as paid. */
  readonly paid: { readonly cartId: string; readonly totalCents: number }[];
  isReverseAsked: boolean;
  isRefundAsked: boolean;
  /** Whether `cancel` or `refund` has succeeded after the order was returned as paid. */
  /** Whether a part of it was refunded, or asked to be. */
  isReturnAsked: boolean;
  isReverseDone: boolean;
  isRefundDone: boolean;
  readonly refundedReferences: Set<string>;
}

/** The state that the calls of a sequence share. */
export interface CallContext {
  readonly stage: Stage;
  readonly other: OtherMethod;
  readonly carts: readonly CartView[];
  readonly cards: readonly ModelCard[];
  readonly orders: readonly OrderStory[];
  violate(kind: string, text: string): void;
}

/** Makes the calls of the steps, and stores their results. */
export class ShopCalls {
  readonly #context: CallContext;
  readonly #quotes: string[] = [];
  readonly #tenders: string[][] = [[], []];

  constructor(context: CallContext) {
    this.#context = context;
  }

  async make(call: Call, { checkout, gate }: ShopProcess): Promise<unknown> {
    const cart = ("cart" in call ? this.#context.carts[call.cart] : undefined) as CartView;
    const story = ("order" in call ? this.#context.orders[call.order] : undefined) as OrderStory;
    switch (call.do) {
      case "apply": {
        const summary = await checkout.apply(cart, this.#entry(call.card));
        this.#tenders[call.cart] = summary.cards.map(({ id }) => id);
        return summary;
      }
      case "quote": {
        const quote = await checkout.quote(cart, this.#entry(call.card));
        this.#quotes.push(quote.quoteId);
        return quote;
      }
      case "apply quote":
        return checkout.apply(cart, { quoteId: this.#quotes.at(-1 - call.which) ?? "none" });
      case "remove":
        return checkout.remove(cart, this.#tenders[call.cart]?.at(-1 - call.which) ?? "none");
      case "list":
        return checkout.list(cart);
      case "commit":
        return this.#commit(call, story, cart, { checkout, gate });
      case "confirm":
      case "abandon": {
        const result = await checkout[call.do](story.id);
        if (result.status === "paid") this.#tellPaid(story, null, result);
        return result;
      }
      case "reverse": {
        const wasPaid = story.paid.length > 0;
        story.isReverseAsked = true;
        const views = await checkout.cancel(story.id);
        if (wasPaid) story.isReverseDone = true;
        return views;
      }
      case "refund":
        return call.which === null
          ? this.#refundAll(story, { checkout, gate })
          : this.#refundOne(call.which, story, { checkout, gate });
      case "return": {
        story.isReturnAsked = true;
        const { amountCents, rule } = call;
        return checkout.refund(story.id, { id: `return-${call.which}`, amountCents: cents(amountCents), rule });
      }
      case "notify": {
        const request = await this.#context.other.notification(call.which);
        const response = request && (await checkout.webhook(request));
        if (response?.status === 400) this.#context.violate("a notification isn't the method's", String(call.which));
        return { status: response?.status.toString() };
      }
      case "recover":
        return checkout.recover();
    }
  }

  #entry(index: number) {
    const { cardNumber, pin } = this.#context.cards[index] as ModelCard;
    return { cardNumber, pin };
  }

  async #commit(call: Call & { do: "commit" }, story: OrderStory, cart: CartView, process: ShopProcess) {
    const { checkout } = process;
    const plan =
      call.expect === "nothing" ? null : call.expect === "as listed" ? (await checkout.list(cart)).plan : "old";
    const result = await checkout.pay({ id: story.id, cart, plan }, { input: this.#context.other.inputOf(call.pay) });
    // The shopper pays on the page at once.
    if (result.status === "pending" && call.pay.startsWith("authorize") && this.#context.other.hasPage)
      this.#context.other.settle(story.id, "authorized");
    if (result.status === "paid") this.#tellPaid(story, cart, result);
    return result;
  }

  #tellPaid(story: OrderStory, cart: CartView | null, { cards, remainderCents }: OrderPayment): void {
    const totalCents = cards.reduce((sum, { amountCents }) => sum + amountCents, remainderCents as number);
    if (cart && totalCents !== cart.totalCents)
      this.#context.violate("paid for another total", `asked for ${cart.totalCents}, told that ${totalCents} is paid`);
    if (cards.length > MAX_CARDS) this.#context.violate("too many cards", `${cards.length} paid an order`);
    story.paid.push({ cartId: cart?.id ?? "", totalCents });
  }

  async #refundAll(story: OrderStory, { checkout }: ShopProcess) {
    const wasPaid = story.paid.length > 0;
    story.isRefundAsked = true;
    const views = await checkout.refundCards(story.id);
    if (wasPaid) story.isRefundDone = true;
    return views;
  }

  async #refundOne(which: number, story: OrderStory, { checkout }: ShopProcess) {
    const { charges } = await this.#context.stage.rows();
    const references = charges.filter((a) => a.order_id === story.id).map((a) => String(a.reference));
    const reference = references[which % Math.max(1, references.length)] ?? "none";
    story.refundedReferences.add(reference);
    // If an order isn't paid, all of its cards are reversed, not only one.
    if (story.paid.length === 0) story.isRefundAsked = true;
    return checkout.refundCards(story.id, reference);
  }

  /** Checks errors: CheckoutErrors, or errors of the shop's own parts. */
  isDocumented(call: Call, error: unknown): boolean {
    if (error instanceof CheckoutError) return true;
    if (error instanceof RefundError) return call.do === "return" || call.do === "refund";
    if (error instanceof PlayedError && error.by === "database") return true;
    const asksBank = ["commit", "confirm", "abandon"].includes(call.do);
    if (error instanceof PlayedError && error.by === "bank") return asksBank;
    // The result of the bank's method was invalid.
    return asksBank && (error instanceof RemainderFault || this.#context.other.isOwnError(error));
  }
}
