import type { HttpTypes } from "@medusajs/types"
import OrderDetailsTemplate from "@modules/order/templates/order-details-template"
import OrderPayments from "./order-payments"
import { PaymentsBelowSummary } from "./order-summary"

/** The storefront's page of an order, with every part of its payment in it. */
const OrderDetails = ({ order }: { order: HttpTypes.StoreOrder }) => (
  <PaymentsBelowSummary payments={<OrderPayments order={order} />}>
    <OrderDetailsTemplate order={order} />
  </PaymentsBelowSummary>
)

export default OrderDetails
