import type { HttpTypes } from "@medusajs/types";
import PaymentDetails from "@modules/order/components/payment-details";

const OrderCompletedTemplate = ({ order }: { order: HttpTypes.StoreOrder }) => (
  <main>
    <h1>Thank you!</h1>
    <PaymentDetails order={order} />
  </main>
);

export default OrderCompletedTemplate;
