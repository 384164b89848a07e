"use server";

import { revalidatePath, updateTag } from "next/cache";
import { redirect } from "next/navigation";
import { GIFT_CARDS, metadataOf, type Refusal, type Shown } from "./shop";
import { addPayment, moveTo, type Outcome, readActiveOrder, readOrderState } from "./vendure";

const OPEN = ["AddingItems", "ArrangingPayment"];

/**
 * Charges the cards, lets the other method pay what is left, and redirects to the confirmation. If the order was not
 * placed, it is moved back to `AddingItems`: the cards get their money back, and the shopper can change the order.
 *
 * It returns a refusal instead of throwing it, since a production build hides from the browser what a server action throws.
 *
 * @param shown the amounts that the shopper has seen. With other amounts, nothing is charged
 * @param methodCode the other method; null if the cards pay everything
 */
export async function payOrder(shown: Shown, methodCode: string | null): Promise<Refusal> {
  const refusal = await pay(shown, methodCode).catch((error): Refusal => {
    console.error("gift cards: the order could not be paid:", error);
    return { code: "internal" };
  });
  const state = await stateOf(shown.orderCode);
  if (state && !OPEN.includes(state)) {
    updateTag("cart");
    updateTag("active-order");
    redirect(`/order-confirmation/${shown.orderCode}`);
  }
  // Accepted, and not placed yet: the plugin places it, or returns all of its money.
  if (!refusal || !state) return { code: "outcome_unknown" };
  if (state === "ArrangingPayment")
    await moveTo("AddingItems").catch((error) =>
      console.error("gift cards: the order stays in ArrangingPayment:", error),
    );
  revalidatePath("/checkout");
  return refusal;
}

/** @returns a refusal, or undefined if everything was paid */
async function pay(shown: Shown, methodCode: string | null): Promise<Refusal | undefined> {
  const { activeOrder } = await readActiveOrder();
  if (activeOrder?.code !== shown.orderCode) return { code: "cart_not_found" };
  // An earlier attempt was interrupted. Its cards get their money back before they are charged again.
  if (activeOrder.state === "ArrangingPayment") await moveTo("AddingItems");
  const moved = await moveTo("ArrangingPayment");
  if (moved?.errorCode) return { code: "internal", message: moved.message };
  const now = await readActiveOrder();
  const { covered = 0, remainder = now.activeOrder?.totalWithTax } = now.giftcards;
  if (
    now.activeOrder?.totalWithTax !== shown.totalCents ||
    covered !== shown.coveredCents ||
    remainder !== shown.remainderCents
  )
    return { code: "amounts_changed" };
  if (shown.coveredCents > 0) {
    const { remainderCents } = shown;
    const charged = await addPayment(GIFT_CARDS, { remainderCents });
    if (charged.errorCode) return { code: await reasonOf(charged) };
  }
  if (shown.remainderCents === 0 && shown.coveredCents > 0) return undefined;
  if (!methodCode) return { code: "amounts_changed" };
  const paid = await addPayment(methodCode, metadataOf(methodCode));
  if (!paid.errorCode) return undefined;
  return /^PAYMENT_(DECLINED|FAILED)/.test(paid.errorCode)
    ? { code: "payment_authorization_error" }
    : { code: "internal", message: paid.message };
}

/** Returns the plugin's code for a refused charge. */
async function reasonOf({ errorCode }: Outcome): Promise<string> {
  if (errorCode !== "PAYMENT_DECLINED_ERROR") return "internal";
  const { activeOrder } = await readActiveOrder();
  const declined = (activeOrder?.payments ?? [])
    .filter(({ method, state }) => method === GIFT_CARDS && state === "Declined")
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  return declined[0]?.metadata?.public?.code ?? "internal";
}

/** Returns the order's state, or undefined if it can't be read. */
async function stateOf(code: string): Promise<string | undefined> {
  try {
    const { activeOrder } = await readActiveOrder();
    if (activeOrder?.code === code) return activeOrder.state;
    return await readOrderState(code);
  } catch (error) {
    console.error("gift cards: the order could not be read:", error);
    return undefined;
  }
}
