import { Inject } from "@nestjs/common";
import { Parent, ResolveField, Resolver } from "@nestjs/graphql";
import type { Order } from "@vendure/core";
import { GiftcardCheckout } from "../checkout.js";

/** How an order was paid, for everyone who may read the order. */
@Resolver("Order")
export class PaymentResolver {
  constructor(@Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout) {}

  @ResolveField("giftcardPayment")
  async giftcardPayment(@Parent() { code }: Order) {
    const purchase = await this.checkout.calls.read(code);
    if (!purchase) return null;
    const paid = await this.checkout.calls.paidBy(code);
    const cards = (paid?.cards ?? []).map(({ lastFour, amountCents, refundedCents }) => ({
      ...{ lastFour, amount: amountCents, refunded: refundedCents },
    }));
    return { state: purchase.state, cards, remainder: purchase.remainderCents };
  }
}
