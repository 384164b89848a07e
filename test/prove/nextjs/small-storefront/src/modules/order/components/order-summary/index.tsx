import type { HttpTypes } from "@medusajs/types";
import CartTotals from "@modules/common/components/cart-totals";

const OrderSummary = ({ order }: { order: HttpTypes.StoreOrder }) => <CartTotals totals={order} />;

export default OrderSummary;
