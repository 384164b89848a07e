import type { OrderView } from "../../../../scripts/shops/vendure-shopper.mjs";
import { bookedCents } from "../../../support/vendure-books.js";
import type { Outcome, Verdict } from "../verdict.js";
import type { Purchase } from "./purchase.js";
import type { World } from "./world.js";

const openStates = ["intent", "sent", "devalued", "unknown", "reversing", "needs_attention"];
const unsettledStates = ["charging", "pending", "voiding", "canceling", "refunding"];

/** Reads the books of Vendure, the checkout, the service and the bank, and says what doesn't add up. */
export async function judge(world: World, purchase: Purchase): Promise<Verdict> {
  const { code } = purchase;
  const order: OrderView = await (await world.admin()).look(code);
  const [row] = (await world.books.query("select state from giftcard.giftcard_purchase where order_id = $1", [code]))
    .rows;
  const charges = (await world.books.query("select state from giftcard.giftcard_charge where cart_id = $1", [code]))
    .rows;
  const cards = await world.giftcards.books.query(
    "select coalesce(sum(balance_cents), 0)::int as cents from cards where id = any($1)",
    [purchase.cards.map(({ id }) => id)],
  );
  const issuedCents = purchase.cards.reduce((sum, card) => sum + card.issuedCents, 0);
  const held = { giftcard: issuedCents - cards.rows[0].cents, bank: world.bank.heldCents(code) };
  const booked = {
    giftcard: bookedCents(order.payments, "giftcard"),
    bank: bookedCents(order.payments, "bank"),
  };
  const wrong: string[] = [];
  const expect = (isRight: boolean, what: string) => void (isRight || wrong.push(what));
  expect(!unsettledStates.includes(row?.state), `the purchase is ${row?.state}`);
  for (const { state } of charges) expect(!openStates.includes(state), `a charge is ${state}`);
  for (const method of ["giftcard", "bank"] as const)
    expect(held[method] === booked[method], `${method}: ${held[method]} held, ${booked[method]} in Vendure`);
  const allCents = held.giftcard + held.bank;
  const isPlaced = order.state.startsWith("Payment");
  const outcome: Outcome = isPlaced ? (allCents > 0 ? "paid" : "refunded") : "whole";
  expect(allCents === (outcome === "paid" ? order.totalWithTax : 0), `${outcome}, and ${allCents} are held`);
  if (outcome === "paid")
    expect(held.giftcard === purchase.partCents, `${held.giftcard} are off the cards, not ${purchase.partCents}`);
  return { outcome: wrong.length > 0 ? "open" : outcome, wrong };
}
