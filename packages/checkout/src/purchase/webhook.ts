import { CheckoutError } from "../engine/errors.js";

/** Thrown by a remainder method for a notification that isn't the method's. */
export class ForeignWebhook extends Error {
  override readonly name = "ForeignWebhook";
}

/**
 * Answers a notification of the remainder method.
 *
 * @param handle handles it
 */
export async function answerWebhook(
  handle: () => Promise<unknown>,
  report: (error: unknown) => void,
): Promise<Response> {
  try {
    await handle();
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof ForeignWebhook)
      return new Response("This notification isn't signed as it has to be.", { status: 400 });
    // The order is decided; there is nothing left to do.
    if (error instanceof CheckoutError && error.code === "cart_completed") return new Response(null, { status: 204 });
    // While `pay` still runs, a notification is early. The method sends it again.
    if (!(error instanceof CheckoutError && error.code === "payment_in_progress")) report(error);
    return new Response("Send it again.", { status: 503 });
  }
}
