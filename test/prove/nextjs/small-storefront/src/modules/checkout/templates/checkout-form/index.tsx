import { sdk } from "@lib/config";
import type { HttpTypes } from "@medusajs/types";
import Payment from "@modules/checkout/components/payment";
import Review from "@modules/checkout/components/review";

const CheckoutForm = async ({ cart }: { cart: HttpTypes.StoreCart }) => {
  const { payment_providers } = await sdk.store.payment.listPaymentProviders({ region_id: cart.region?.id ?? "" });
  // The gift cards' own provider is no method to choose.
  const methods = payment_providers.filter(({ id }) => id === "pp_system_default");
  return (
    <main>
      <Payment cart={cart} availablePaymentMethods={methods} />
      <Review cart={cart} />
    </main>
  );
};

export default CheckoutForm;
