"use client";

import type { HttpTypes } from "@medusajs/types";
import { useSearchParams } from "next/navigation";
import PaymentButton from "../payment-button";

/** The last step, once a payment method is chosen. */
const Review = ({ cart }: { cart: HttpTypes.StoreCart }) => {
  const isOpen = useSearchParams().get("step") === "review";
  const hasSession = (cart.payment_collection?.payment_sessions?.length ?? 0) > 0;
  return isOpen && hasSession ? <PaymentButton /> : null;
};

export default Review;
