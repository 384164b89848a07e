"use client";

import { GiftcardPay } from "@giftcard-pay/widget/react";
import { type ComponentRef, useRef } from "react";
import { useCheckout } from "@/app/checkout/checkout-provider";
import PaymentStep from "@/app/checkout/steps/payment-step";
import { Button } from "@/components/ui/button";
import { ENDPOINT } from "./shop";
import { change, useGiftCards } from "./state";

/** The starter's payment step, with gift cards above its payment methods. */
export default function PaymentStepWithGiftCards({ onComplete }: { onComplete: () => void }) {
  const { order } = useCheckout();
  const { isCovered } = useGiftCards();
  const tag = useRef<ComponentRef<typeof GiftcardPay>>(null);

  const handleContinue = () => {
    // A card that is entered and not applied would pay nothing.
    if (tag.current && !tag.current.reportValidity()) return;
    change({ failure: undefined });
    onComplete();
  };

  return (
    <div className="space-y-6">
      <h3 className="font-semibold">Gift card</h3>
      {/* Turbopack can't parse the widget's stylesheet: the height keeps space for the form. The padding keeps the accordion from
          clipping its focus ring. */}
      <GiftcardPay
        ref={tag}
        className="block min-h-27 px-1 [--giftcard-pay-accent:var(--primary)]"
        endpoint={ENDPOINT}
        cart={order.code}
        onTotal={({ detail }) => change({ summary: detail.summary })}
      />
      {isCovered ? (
        <Button onClick={handleContinue} className="w-full">
          Continue to review
        </Button>
      ) : (
        <PaymentStep onComplete={handleContinue} />
      )}
    </div>
  );
}
