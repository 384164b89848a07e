"use client"

import type { HttpTypes } from "@medusajs/types"
import OrderSummary from "@modules/order/components/order-summary"
import { createContext, type ReactNode, useContext } from "react"

const PaymentsContext = createContext<ReactNode>(null)

type PaymentsBelowSummaryProps = {
  /** Made by the server. The page between it and the sums is the browser's. */
  payments: ReactNode
  children: ReactNode
}

/** Puts the parts of an order's payment below its sums, somewhere in these children. */
export const PaymentsBelowSummary = ({
  payments,
  children,
}: PaymentsBelowSummaryProps) => (
  <PaymentsContext.Provider value={payments}>
    {children}
  </PaymentsContext.Provider>
)

/** The storefront's sums of an order, with every part of its payment below. */
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
