import type { HttpTypes } from "@medusajs/types";
import CartTotals from "@modules/common/components/cart-totals";

const CheckoutSummary = ({ cart }: { cart: HttpTypes.StoreCart }) => (
  <aside>
    <CartTotals totals={cart} />
  </aside>
);

export default CheckoutSummary;
