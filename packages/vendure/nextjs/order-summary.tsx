"use client";

import { useEffect } from "react";
import { useCheckout } from "@/app/checkout/checkout-provider";
import OrderSummary from "@/app/checkout/order-summary";
import { Price } from "@/components/commerce/price";
import { Card, CardContent } from "@/components/ui/card";
import { change, loadGiftCards, useGiftCards } from "./state";

/** The starter's order summary, with the gift cards and the remainder below it. */
export default function OrderSummaryWithGiftCards() {
  const { order } = useCheckout();
  const { code, totalWithTax: totalCents, currencyCode } = order;
  const { coveredCents, remainderCents } = useGiftCards();

  useEffect(() => {
    change({ order: { code, totalCents } });
    void loadGiftCards();
  }, [code, totalCents]);

  // The starter's card is sticky. Both cards stay together.
  return (
    <div className="sticky top-4 space-y-4 [&>[data-slot=card]]:static">
      <OrderSummary />
      {coveredCents > 0 && (
        <Card>
          <CardContent>
            <dl className="space-y-2" data-testid="gift-cards">
              <div className="flex justify-between text-sm text-green-600">
                <dt>Gift cards</dt>
                <dd>
                  <Price value={-coveredCents} currencyCode={currencyCode} />
                </dd>
              </div>
              <div className="flex justify-between font-bold text-lg">
                <dt>Left to pay</dt>
                <dd>
                  <Price value={remainderCents} currencyCode={currencyCode} />
                </dd>
              </div>
            </dl>
          </CardContent>
        </Card>
      )}
    </div>
  );
}
