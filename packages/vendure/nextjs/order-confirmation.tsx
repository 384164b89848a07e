import { OrderConfirmation } from "@/app/order-confirmation/[code]/order-confirmation";
import { Price } from "@/components/commerce/price";
import { Card, CardContent, CardHeader, CardTitle } from "@/components/ui/card";
import { readPayment } from "./vendure";

/** The starter's confirmation, with the order's gift cards below it. */
async function OrderConfirmationWithGiftCards(props: PageProps<"/order-confirmation/[code]">) {
  const { code } = await props.params;
  const { currencyCode, giftcardPayment } = await readPayment(code);
  const { cards = [], remainder = 0 } = giftcardPayment ?? {};

  return (
    <>
      <OrderConfirmation {...props} />
      {/* An order whose cards were returned has no cards, and its remainder is an earlier one. */}
      {cards.length > 0 && (
        <div className="container mx-auto px-4 pb-16">
          <Card className="max-w-3xl mx-auto">
            <CardHeader>
              <CardTitle>Payment</CardTitle>
            </CardHeader>
            <CardContent>
              <ul className="space-y-2 text-sm" data-testid="payments">
                {cards.map(({ lastFour, amount }) => (
                  <li key={lastFour} className="flex justify-between gap-4">
                    <span>Gift card ending in {lastFour}</span>
                    <span>
                      <Price value={amount} currencyCode={currencyCode} />
                    </span>
                  </li>
                ))}
                {remainder > 0 && (
                  <li className="flex justify-between gap-4">
                    <span>Other payment</span>
                    <span>
                      <Price value={remainder} currencyCode={currencyCode} />
                    </span>
                  </li>
                )}
              </ul>
            </CardContent>
          </Card>
        </div>
      )}
    </>
  );
}

export { OrderConfirmationWithGiftCards as OrderConfirmation };
