import { compare } from "../../books/books.js";
import { centsOff } from "../../books/issuer.js";
import { readVendure } from "../../books/vendure.js";
import type { Outcome, Verdict } from "../verdict.js";
import type { Purchase } from "./purchase.js";
import type { World } from "./world.js";

/** Reads the books of Vendure, the checkout, the service and the bank, and says what doesn't add up. */
export async function judge(world: World, purchase: Purchase): Promise<Verdict> {
  const { code } = purchase;
  const sides = { books: world.books, admin: await world.admin() };
  const { order, ...books } = await readVendure(sides, code, ["giftcard", "bank"]);
  const held = { giftcard: await centsOff(world.giftcards, purchase.cards), bank: world.bank.heldCents(code) };
  const wrong = compare({ ...books, held });
  const expect = (isRight: boolean, what: string) => void (isRight || wrong.push(what));
  const allCents = held.giftcard + held.bank;
  const isPlaced = order.state.startsWith("Payment");
  const outcome: Outcome = isPlaced ? (allCents > 0 ? "paid" : "refunded") : "whole";
  expect(allCents === (outcome === "paid" ? order.totalWithTax : 0), `${outcome}, and ${allCents} are held`);
  if (outcome === "paid")
    expect(held.giftcard === purchase.partCents, `${held.giftcard} are off the cards, not ${purchase.partCents}`);
  return { outcome: wrong.length > 0 ? "open" : outcome, wrong };
}
