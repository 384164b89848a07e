import type { HttpTypes } from "@medusajs/types"
import OrderDetailsTemplate from "@modules/order/templates/order-details-template"
import OrderPayments from "./order-payments"

/** The storefront's page of an order, with every part of its payment below. */
const OrderDetails = ({ order }: { order: HttpTypes.StoreOrder }) => (
  <>
    <OrderDetailsTemplate order={order} />
    <OrderPayments order={order} />
  </>
)

export default OrderDetails
