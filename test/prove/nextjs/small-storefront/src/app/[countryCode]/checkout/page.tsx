import { retrieveCart } from "@lib/data/cart";
import CheckoutForm from "@modules/checkout/templates/checkout-form";
import CheckoutSummary from "@modules/checkout/templates/checkout-summary";
import { notFound } from "next/navigation";

const Checkout = async () => {
  const cart = await retrieveCart();
  if (!cart) return notFound();
  return (
    <>
      <CheckoutForm cart={cart} />
      <CheckoutSummary cart={cart} />
    </>
  );
};

export default Checkout;
