import type { HttpTypes } from "@medusajs/types"
import Payment from "@modules/checkout/components/payment"
import GiftCards from "./gift-cards"
import { backendUrl, publishableKey } from "./shop"

type PaymentWithGiftCardsProps = {
  cart: HttpTypes.StoreCart
  availablePaymentMethods: { id: string }[]
}

/** The storefront's payment step, with gift cards above its payment methods. */
const PaymentWithGiftCards = ({
  cart,
  availablePaymentMethods,
}: PaymentWithGiftCardsProps) => {
  const collection = cart.payment_collection
  const sessions = collection?.payment_sessions ?? []
  const session = sessions.find(({ status }) => status === "pending")
  // A session of 0.00 belongs to a covered cart. Hide it, or the step shows its method as the shopper's choice.
  const payable = collection && {
    ...collection,
    payment_sessions: sessions.filter(({ amount }) => amount !== 0),
  }

  return (
    <GiftCards
      cartId={cart.id}
      total={cart.total}
      session={
        session && {
          providerId: session.provider_id,
          amountCents: Math.round(session.amount * 100),
        }
      }
      endpoint={`${backendUrl}/store/giftcard-pay`}
      publishableKey={publishableKey}
    >
      <Payment
        cart={{ ...cart, payment_collection: payable }}
        availablePaymentMethods={availablePaymentMethods}
      />
    </GiftCards>
  )
}

export default PaymentWithGiftCards
