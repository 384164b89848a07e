"use client"

import type { HttpTypes } from "@medusajs/types"
import OrderSummary from "@modules/order/components/order-summary"
import { createContext, type ReactNode, useContext } from "react"

const PaymentsContext = createContext<ReactNode>(null)

type PaymentsBelowSummaryProps = {
  /** Rendered on the server. The component around it runs in the browser. */
  payments: ReactNode
  children: ReactNode
}

/** Inserts the payments of an order below its totals, somewhere in these children. */
export const PaymentsBelowSummary = ({
  payments,
  children,
}: PaymentsBelowSummaryProps) => (
  <PaymentsContext.Provider value={payments}>
    {children}
  </PaymentsContext.Provider>
)

/** The storefront's totals of an order, with all payments below them. */
const OrderSummaryWithPayments = ({
  order,
}: {
  order: HttpTypes.StoreOrder
}) => (
  <>
    <OrderSummary order={order} />
    {useContext(PaymentsContext)}
  </>
)

export default OrderSummaryWithPayments
