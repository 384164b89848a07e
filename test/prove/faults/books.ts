import { compare } from "../books/books.js";
import { list, same, sum } from "../books/cents.js";
import { type CardBooks, checkIssuer, readCards } from "../books/issuer.js";
import type { Purchase, Shop } from "./shop.js";
import type { ChargeRow, Expect, Outcome, ShopBooks, Verdict } from "./verdict.js";

/** A card at the service, and what it should have paid. */
type Card = Purchase["cards"][number] & CardBooks;

/** Reads the books of the shop and the service. Returns how the purchase ended, and every mismatch. */
export async function judge<P extends Purchase>(shop: Shop<P>, purchase: P): Promise<Verdict> {
  const [books, cards] = [await shop.books(purchase), await readCards(shop.giftcards, purchase.cards)];
  const wrong = [...(await checkIssuer(shop.giftcards)), ...compare(books, { mayAsk: true })];
  const expect: Expect = (isRight, what) => void (isRight || wrong.push(what));
  const { charges, order } = books;
  const takenCents = sum(cards.map((card) => card.takenCents));
  const isPart = purchase.units !== null && takenCents < sum(cards.map((card) => card.partCents));
  const outcomeOf = (): Exclude<Outcome, "open"> => {
    if (charges.some(({ state }) => state === "needs_attention")) return "person";
    if (takenCents > 0) return isPart ? "part" : "paid";
    return !order || order.isCanceled ? "whole" : "refunded";
  };
  const outcome = outcomeOf();
  if (outcome === "person") judgePerson(books, cards, expect);
  else if (outcome === "paid") judgePaid(books, cards, expect);
  else if (outcome === "part") judgePaid(books, withoutUnits(cards, purchase), expect);
  else judgeBack(books, cards, expect);
  const keepsRest = outcome === "paid" || outcome === "part" || (outcome === "refunded" && shop.refundsCardsOnly);
  const backCents = outcome === "part" ? sum(returnsOf(purchase).map(({ otherCents }) => otherCents)) : 0;
  const restCents = keepsRest ? purchase.remainderCents - backCents : 0;
  const rest = restCents > 0 ? [restCents] : [];
  expect(same(books.bankCents, rest), `the bank holds ${list(books.bankCents)}, not ${list(rest)}`);
  books.check(outcome, expect);
  return { outcome: wrong.length > 0 ? "open" : outcome, wrong };
}

/** Splits each return's refund between the card and the other method. The last units are returned first. */
export function returnsOf({ units, cards, returns = [1] }: Purchase) {
  const left = cards.flatMap(({ chargesCents }) => chargesCents);
  const kept = [...(units ?? [])];
  return returns.map((count) => {
    const cardCents = sum(left.splice(-count));
    return { cardCents, otherCents: sum(kept.splice(-count)) - cardCents };
  });
}

/** Removes the charges of returned units from what the cards should have paid. */
function withoutUnits(cards: readonly Card[], purchase: Purchase): Card[] {
  const backCents = sum(returnsOf(purchase).map(({ cardCents }) => cardCents));
  return cards.map((card) => ({
    ...card,
    partCents: card.partCents - backCents,
    chargesCents: card.chargesCents.slice(0, -sum(purchase.returns ?? [1])),
  }));
}

function judgePaid({ order, charges }: ShopBooks, cards: readonly Card[], expect: Expect): void {
  expect(
    order !== null && !order.isCanceled,
    `money is off a card, and the order is ${order ? "canceled" : "not there"}`,
  );
  for (const { takenCents, partCents, chargesCents, times, balanceCents, issuedCents } of cards) {
    expect(takenCents === partCents, `${takenCents} cents are off a card, not ${partCents}`);
    expect(times === chargesCents.length, `a card was charged ${times} times`);
    expect(balanceCents === issuedCents - partCents, `a card holds ${balanceCents} of ${issuedCents} cents`);
  }
  const kept = charges.filter(isDecided);
  expect(
    same(
      kept.map((a) => a.deducted_cents ?? 0),
      cards.flatMap((card) => card.chargesCents),
    ),
    `the journal holds ${list(kept.map((a) => a.deducted_cents))}`,
  );
  expect(
    kept.every((charge) => charge.order_id === order?.id),
    "a charge belongs to another order",
  );
}

function judgeBack({ charges }: ShopBooks, cards: readonly Card[], expect: Expect): void {
  for (const { balanceCents, issuedCents } of cards) {
    expect(balanceCents === issuedCents, `a card holds ${balanceCents} of ${issuedCents} cents`);
  }
  const kept = charges.filter(({ state }) => state !== "reversed" && state !== "refused");
  expect(kept.length === 0, `the journal keeps ${list(kept.map((charge) => charge.state))}`);
}

/** Checks that a person is asked only about charges of unknown outcome, with the right balance shown, and that nothing else is open. */
function judgePerson({ order, charges }: ShopBooks, cards: readonly Card[], expect: Expect): void {
  const asked = charges.filter(({ state }) => state === "needs_attention");
  for (const { reason, balance_after_cents: shown, amount_cents: cents } of asked) {
    expect(reason === "outcome_unknown", `a person is asked because of ${reason}`);
    const isRight = cards.some(({ balanceCents }) => shown !== null && balanceCents === Number(shown));
    expect(isRight, `a person is shown a balance of ${shown}`);
    expect(
      cards.some((card) => card.takenCents === cents || card.takenCents === 0),
      "another amount is gone",
    );
  }
  expect(!charges.some(isDecided), "an order stands on a charge in doubt");
  const off = cards.filter((card) => card.takenCents > 0).length;
  expect(off <= asked.length, `${off} cards are charged, and a person is asked about ${asked.length}`);
  expect(!order || order.isCanceled, "there is an order");
}

const isDecided = ({ state }: ChargeRow) => state === "committed" || state === "captured";
