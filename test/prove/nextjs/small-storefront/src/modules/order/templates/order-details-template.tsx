"use client";

import type { HttpTypes } from "@medusajs/types";
import OrderSummary from "@modules/order/components/order-summary";

const OrderDetailsTemplate = ({ order }: { order: HttpTypes.StoreOrder }) => (
  <main data-testid="order-details-container">
    <OrderSummary order={order} />
  </main>
);

export default OrderDetailsTemplate;
