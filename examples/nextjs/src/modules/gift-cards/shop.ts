/** The address of the shop's Medusa, for the browser and for Next.js. */
export const backendUrl =
  process.env.NEXT_PUBLIC_MEDUSA_BACKEND_URL ||
  process.env.MEDUSA_BACKEND_URL ||
  "http://localhost:9000"

export const publishableKey =
  process.env.NEXT_PUBLIC_MEDUSA_PUBLISHABLE_KEY ?? ""

/** The session storage key for the shopper's last choice of a payment method. */
export const chosenKey = (cartId: string) => `gift-cards-method:${cartId}`
