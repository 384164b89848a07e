"use client";

import type { ComponentProps } from "react";
import ReviewStep from "@/app/checkout/steps/review-step";
import { Alert, AlertDescription, AlertTitle } from "@/components/ui/alert";
import { useGiftCards } from "./state";

/** The starter's review step, which says why the order was not placed. */
export default function ReviewStepWithGiftCards(props: ComponentProps<typeof ReviewStep>) {
  const { failure } = useGiftCards();
  return (
    <div className="space-y-6">
      <ReviewStep {...props} />
      {failure && (
        <Alert variant="destructive">
          <AlertTitle>Your order wasn&apos;t placed.</AlertTitle>
          <AlertDescription>{failure}</AlertDescription>
        </Alert>
      )}
    </div>
  );
}
