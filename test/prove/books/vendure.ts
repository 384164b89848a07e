import type { openAdmin } from "../../../scripts/shops/vendure-shopper.mjs";
import { bookedCents } from "../../support/vendure-books.js";

interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: { state: string; amount_cents: string }[] }>;
}

/** Reads an order in Vendure, by method, and its journal in the checkout. */
export async function readVendure<Method extends string>(
  { books, admin }: { books: Queryable; admin: Pick<Awaited<ReturnType<typeof openAdmin>>, "look"> },
  code: string,
  methods: readonly Method[],
) {
  const order = await admin.look(code);
  const purchases = await books.query("select state from giftcard.giftcard_purchase where order_id = $1", [code]);
  const charges = await books.query("select state, amount_cents from giftcard.giftcard_charge where cart_id = $1", [
    code,
  ]);
  return {
    order,
    charges: charges.rows,
    purchases: purchases.rows.map(({ state }) => state),
    booked: Object.fromEntries(methods.map((method) => [method, bookedCents(order.payments, method)])) as Record<
      Method,
      number
    >,
  };
}
