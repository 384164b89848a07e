import type { HttpTypes } from "@medusajs/types"
import OrderDetailsTemplate from "@modules/order/templates/order-details-template"
import OrderPayments from "./order-payments"
import { PaymentsBelowSummary } from "./order-summary"

/** The storefront's order page, with all payments of the order. */
const OrderDetails = ({ order }: { order: HttpTypes.StoreOrder }) => (
  <PaymentsBelowSummary payments={<OrderPayments order={order} />}>
    <OrderDetailsTemplate order={order} />
  </PaymentsBelowSummary>
)

export default OrderDetails
