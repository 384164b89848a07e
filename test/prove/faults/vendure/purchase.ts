import { openShopper } from "../../../../scripts/shops/vendure-shopper.mjs";
import type { IssuedCard } from "../service.js";
import type { World } from "./world.js";

/** How an order of 74.98 is paid: by two cards alone, or by one card of 50.00 and the bank. */
export const kinds = ["cards", "card + bank"] as const;
export type Kind = (typeof kinds)[number];

type Shopper = ReturnType<typeof openShopper>;

/** An order with its cards applied, and its shopper at each process of the shop. */
export interface Purchase {
  readonly kind: Kind;
  readonly id: string;
  readonly code: string;
  readonly cards: readonly IssuedCard[];
  readonly partCents: number;
  readonly bankCents: number;
  readonly shopper: Shopper;
  /** The same shopper, at the process that doesn't die. */
  readonly beside: Shopper;
}

/** Begins one. @param sharedCard a card that stands on another order too */
export async function begin(world: World, kind: Kind, sharedCard?: IssuedCard): Promise<Purchase> {
  const [url, secondUrl] = world.urls();
  const shopper = openShopper(url);
  const { id, code } = await shopper.order();
  const cards = sharedCard ? [sharedCard] : [];
  while (cards.length < (kind === "cards" ? 2 : 1)) cards.push(await world.giftcards.issueCard(5000));
  for (const card of cards) await shopper.apply(card);
  const partCents = kind === "cards" ? 7498 : 5000;
  const beside = openShopper(secondUrl, undefined, shopper.bearer());
  return { kind, id, code, cards, partCents, bankCents: 7498 - partCents, shopper, beside };
}

/** Pays all of it, and waits until Vendure says so. */
export async function pay({ code, kind, cards, bankCents, beside: shopper }: Purchase): Promise<void> {
  // A card that was refused at the charge keeps the balance that it had then, until it is entered again.
  const { cards: applied } = await shopper.call("{ giftcards { ... on GiftcardSummary { cards { id } } } }");
  for (const { id } of applied)
    await shopper.call(`mutation { removeGiftcard(id: "${id}") { ... on GiftcardSummary { covered } } }`);
  for (const card of cards) await shopper.apply(card);
  await shopper.payByCard();
  if (kind === "card + bank") await shopper.payByBank(bankCents);
  await until(async () => (await shopper.look(code)).state === "PaymentSettled", "the order isn't settled");
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until it holds. @throws when the time is up */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(what);
    await pause(50);
  }
}
