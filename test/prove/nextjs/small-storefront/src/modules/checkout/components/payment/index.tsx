"use client";

import { paymentInfoMap } from "@lib/constants";
import { initiatePaymentSession } from "@lib/data/cart";
import type { HttpTypes } from "@medusajs/types";
import { Button } from "@modules/common/components/ui";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";

type PaymentProps = { cart: HttpTypes.StoreCart; availablePaymentMethods: { id: string }[] };

/** The payment methods of the region, as radio buttons. */
const Payment = ({ cart, availablePaymentMethods }: PaymentProps) => {
  const session = cart.payment_collection?.payment_sessions?.find(({ status }) => status === "pending");
  const [chosen, setChosen] = useState(session?.provider_id ?? "");
  const [isLoading, setLoading] = useState(false);
  const router = useRouter();
  const pathname = usePathname();
  const isOpen = useSearchParams().get("step") === "payment";

  const goOn = async () => {
    setLoading(true);
    try {
      if (session?.provider_id !== chosen) await initiatePaymentSession(cart, chosen);
      router.push(`${pathname}?step=review`, { scroll: false });
    } finally {
      setLoading(false);
    }
  };

  return (
    <div style={{ display: isOpen ? "block" : "none" }}>
      {availablePaymentMethods.map(({ id }) => (
        <label key={id}>
          <input type="radio" name="method" checked={chosen === id} onChange={() => setChosen(id)} />
          {paymentInfoMap[id]?.title ?? id}
        </label>
      ))}
      <Button data-testid="submit-payment-button" disabled={!chosen} isLoading={isLoading} onClick={goOn}>
        Continue to review
      </Button>
    </div>
  );
};

export default Payment;
