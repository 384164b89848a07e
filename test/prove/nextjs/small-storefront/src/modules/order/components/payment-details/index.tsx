import type { HttpTypes } from "@medusajs/types";

const PaymentDetails = ({ order }: { order: HttpTypes.StoreOrder }) => <p>{order.payment_status}</p>;

export default PaymentDetails;
