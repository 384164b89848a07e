import { type CartView, CheckoutError } from "@giftcard-pay/checkout";
import { addressOf } from "@giftcard-pay/checkout/node";
import type { ApplyRequest, CardEntry, CartSummary } from "@giftcard-pay/checkout/storefront";
import { Inject } from "@nestjs/common";
import { Args, Mutation, Query, Resolver } from "@nestjs/graphql";
import { ActiveOrderService, Allow, Ctx, OrderService, Permission, type RequestContext } from "@vendure/core";
import { GiftcardCheckout } from "../checkout.js";
import { logFailure, SETTINGS } from "../constants.js";
import { Gates } from "../gates.js";
import { cartOf } from "../lines.js";
import type { Settings } from "../options.js";

/** The calls of a page, for the active order of its session only. */
@Resolver()
export class ShopResolver {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(ActiveOrderService) private readonly activeOrders: ActiveOrderService,
    @Inject(OrderService) private readonly orders: OrderService,
    @Inject(Gates) private readonly gates: Gates,
  ) {}

  @Query("giftcards")
  @Allow(Permission.Owner)
  giftcards(@Ctx() ctx: RequestContext) {
    return answer(async () => showSummary(await this.checkout.calls.list(await this.cart(ctx))));
  }

  @Mutation("quoteGiftcard")
  @Allow(Permission.Owner)
  quoteGiftcard(@Ctx() ctx: RequestContext, @Args("input") input: CardEntry) {
    return answer(async () => {
      const quote = await this.checkout.calls.quote(await this.cart(ctx), checked(input));
      const { quoteId: id, balanceCents: balance, usableCents: usable, remainderCents: remainder } = quote;
      return { ...quote, __typename: "GiftcardQuote", id, balance, usable, remainder };
    });
  }

  @Mutation("applyGiftcard")
  @Allow(Permission.Owner)
  applyGiftcard(@Ctx() ctx: RequestContext, @Args("input") input: Record<string, string | null>) {
    return answer(async () => {
      const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value != null));
      return showSummary(
        await this.checkout.calls.apply(await this.cart(ctx), checked(given) as never as ApplyRequest),
      );
    });
  }

  @Mutation("removeGiftcard")
  @Allow(Permission.Owner)
  removeGiftcard(@Ctx() ctx: RequestContext, @Args("id") id: string) {
    return answer(async () => {
      checked({ id });
      return showSummary(await this.checkout.calls.remove(await this.cart(ctx), id));
    });
  }

  @Mutation("giftcardBalance")
  @Allow(Permission.Public)
  giftcardBalance(@Ctx() ctx: RequestContext, @Args("input") input: CardEntry) {
    return answer(async () => {
      await this.activeOrder(ctx);
      const address = this.addressOf(ctx);
      const guesser = address === undefined ? { cartId: (await this.cart(ctx)).id } : { address };
      const { lastFour, balanceCents, expiryDate } = await this.checkout.calls.balance(checked(input), guesser);
      return { __typename: "GiftcardBalance", lastFour, balance: balanceCents, expiryDate };
    });
  }

  /** Returns the active order as a cart. @throws {CheckoutError} giftcards_not_accepted; cart_not_found */
  private async cart(ctx: RequestContext): Promise<CartView> {
    const order = await this.activeOrder(ctx);
    if (!order) throw new CheckoutError("cart_not_found");
    return { ...cartOf(order), address: this.addressOf(ctx) };
  }

  /** Returns the active order. @throws {CheckoutError} giftcards_not_accepted, in this channel or for this order */
  private async activeOrder(ctx: RequestContext) {
    const active = ctx.session && (await this.activeOrders.getActiveOrder(ctx, undefined));
    // An eligibility checker gets the order as in `addPaymentToOrder`.
    const order = active && (await this.orders.findOne(ctx, active.id));
    const message = await this.gates.refusalOfCards(ctx, order);
    if (message !== undefined) throw new CheckoutError("giftcards_not_accepted", { message });
    return order;
  }

  private addressOf({ req }: RequestContext): string | undefined {
    return req && addressOf(req as never, this.settings.addressHeader);
  }
}

/** Whether PostgreSQL and JSON accept a text: it has no NUL and no half of a pair of surrogates. */
const isText = (value: string): boolean => !/\0|\p{Surrogate}/u.test(value);

/** Checks texts that PostgreSQL would not accept. @throws {CheckoutError} invalid_request */
function checked<Input extends object>(input: Input): Input {
  for (const value of Object.values(input))
    if (typeof value !== "string" || !isText(value) || value.length > 1000) throw new CheckoutError("invalid_request");
  return input;
}

/** Returns a refusal as a typed result. Other failures are logged, and are the code `internal`. */
async function answer<T>(work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    const refusal = error instanceof CheckoutError ? error : new CheckoutError("internal");
    if (refusal !== error) logFailure(error);
    const { code, message, retryAfterSeconds } = refusal;
    return { __typename: "GiftcardError", errorCode: "GIFTCARD_ERROR", code, message, retryAfterSeconds };
  }
}

const showSummary = (summary: CartSummary) => ({
  __typename: "GiftcardSummary",
  ...summary,
  ...{ orderCode: summary.cartId, currencyCode: summary.currency, total: summary.totalCents },
  ...{ covered: summary.coveredCents, remainder: summary.remainderCents },
  ...{ notByCard: summary.notByCardCents ?? 0, maxPerCard: summary.maxPerCardCents },
  cards: summary.cards.map((card) => ({ ...card, amount: card.amountCents, balance: card.balanceCents })),
});
