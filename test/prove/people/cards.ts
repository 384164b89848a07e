import type { GiftcardSide, IssuedCard } from "../faults/service.js";

/** Issues cards with different last four digits, because a shop's journal identifies a card only by those. */
export async function issueUnlike(giftcards: GiftcardSide, balances: readonly number[]): Promise<IssuedCard[]> {
  const cards: IssuedCard[] = [];
  const isTaken = (card: IssuedCard) => cards.some((other) => lastFourOf(other) === lastFourOf(card));
  for (const balance of balances) {
    let card = await giftcards.issueCard(balance);
    while (isTaken(card)) card = await giftcards.issueCard(balance);
    cards.push(card);
  }
  return cards;
}

export const lastFourOf = ({ cardNumber }: IssuedCard) => cardNumber.slice(-4);
