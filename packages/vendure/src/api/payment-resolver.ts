import { Inject } from "@nestjs/common";
import { Parent, ResolveField, Resolver } from "@nestjs/graphql";
import { Ctx, type Order, type RequestContext } from "@vendure/core";
import { GiftcardCheckout } from "../checkout.js";
import { heldCentsOf, Money } from "../money.js";

/** How an order was paid, for everyone who may read the order. */
@Resolver("Order")
export class PaymentResolver {
  constructor(
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Money) private readonly money: Money,
  ) {}

  @ResolveField("giftcardPayment")
  async giftcardPayment(@Ctx() ctx: RequestContext, @Parent() { id, code, totalWithTax }: Order) {
    const purchase = await this.checkout.calls.read(code);
    if (!purchase) return null;
    const paid = await this.checkout.calls.paidBy(code);
    const cards = paid.cards.map(({ lastFour, amountCents, refundedCents, owedCents }) => ({
      ...{ lastFour, amount: amountCents, refunded: refundedCents + owedCents },
    }));
    const outstanding = Math.max(0, totalWithTax - heldCentsOf(await this.money.live(ctx, id)));
    return { state: purchase.state, cards, remainder: purchase.remainderCents, outstanding };
  }
}
