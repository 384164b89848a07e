"use client";

import { placeOrder } from "@lib/data/cart";
import { Button } from "@modules/common/components/ui";
import { useState } from "react";

/** Places the order, and shows the message of what it throws, as the storefront's buttons do. */
const PaymentButton = () => {
  const [isSubmitting, setSubmitting] = useState(false);
  const [message, setMessage] = useState<string>();

  const submit = () => {
    setSubmitting(true);
    placeOrder()
      .catch((error: Error) => setMessage(error.message))
      .finally(() => setSubmitting(false));
  };

  return (
    <div>
      <Button data-testid="submit-order-button" isLoading={isSubmitting} onClick={submit}>
        Place order
      </Button>
      {message && <p data-testid="manual-payment-error-message">{message}</p>}
    </div>
  );
};

export default PaymentButton;
