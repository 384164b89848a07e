import { setTimeout as sleep } from "node:timers/promises";
import { fillCart } from "../faults/medusa/tenders.js";
import type { IssuedCard } from "../faults/service.js";
import { MATINEE, type OnSaleShop, SHOW } from "./shop.js";

/** How a buyer pays. */
export type Way = "card + bank" | "two cards + bank" | "covered" | "bank";
/** Two of three use a card. */
const ways: readonly Way[] = ["card + bank", "bank", "two cards + bank", "card + bank", "covered", "bank"];
/** The cards of each way, in cents. A show costs 34.95, or 31.46 with the code. */
const cardsOf: Record<Way, readonly number[]> = {
  "card + bank": [2000],
  "two cards + bank": [1055, 999],
  covered: [5000],
  bank: [],
};
/** Two of six buyers want both shows: their carts name them in another order, and so do Medusa's locks. */
const wants: Readonly<Record<number, readonly string[]>> = { 1: [SHOW, MATINEE], 3: [MATINEE, SHOW] };
/** Each fifth buyer has the code for 10 % off. */
const CODE_EVERY = 5;

/** All buyers press "Place order" within this time. */
const RUSH_MS = 2000;
const RETRY_MS = 1000;
/** A load balancer gives up on a process that doesn't answer. */
const PROXY_MS = 35_000;

export interface Buyer {
  readonly cartId: string;
  readonly way: Way;
  readonly cards: readonly IssuedCard[];
}

/** The answer of Medusa if its workflow failed in two steps at once. It may leave an order that was never paid. */
export const MEDUSA_FAILED = "its workflow's state";

/** A buyer's experience. */
export interface Experience {
  readonly buyer: Buyer;
  /** The last answer: the order, sold out, an order that was interrupted and canceled, "wait" or another refusal. */
  readonly end: "order" | "sold out" | "canceled" | "wait" | "refused" | "no answer";
  readonly message: string;
  readonly orderId: string | null;
  /** From "Place order" to the last answer. */
  readonly ms: number;
  /** The longest wait for a single answer. */
  readonly longestMs: number;
  /** The statuses and codes of all answers. */
  readonly answers: readonly string[];
}

/** Fills the buyers' carts, applies their cards, and begins their payments: all but "Place order". */
export async function gather(
  shop: OnSaleShop,
  count: number,
  { isPlain, bankMs, say }: { isPlain: boolean; bankMs: number; say: (text: string) => void },
): Promise<Buyer[]> {
  const buyers: Buyer[] = [];
  for (let index = 0; index < count; index++) {
    const way = isPlain ? "bank" : (ways[index % ways.length] as Way);
    const storefront = shop.storefront(index);
    const codes = index % CODE_EVERY === 0 ? ["TEN"] : [];
    const items = (wants[index % ways.length] ?? [SHOW]).map((product) => ({ product, quantity: 1 }));
    const cartId = await fillCart(storefront, shop.market, items, codes);
    const cards: IssuedCard[] = [];
    for (const cents of cardsOf[way]) {
      const card = await shop.giftcards.issueCard(cents);
      const { status, body } = await storefront.apply(cartId, card);
      if (status !== 200) throw new Error(`A card was not applied: ${status} ${JSON.stringify(body)}`);
      cards.push(card);
    }
    if (way !== "covered") {
      const { status, body } = await storefront.initiate(cartId, "pp_bank_bank", { cart: cartId, takesMs: bankMs });
      if (status !== 200) throw new Error(`A payment was not begun: ${status} ${JSON.stringify(body)}`);
    }
    buyers.push({ cartId, way, cards });
    if ((index + 1) % 50 === 0) say(`${index + 1} of ${count} carts are ready`);
  }
  return buyers;
}

/** All buyers place their orders within two seconds, each as patient as a page. */
export function rush(
  shop: OnSaleShop,
  buyers: readonly Buyer[],
  { patienceMs, onEnd }: { patienceMs: number; onEnd: (experience: Experience) => void },
): Promise<Experience[]> {
  const buy = async (buyer: Buyer, index: number) => {
    await sleep((RUSH_MS * index) / buyers.length);
    const experience = await placeOrder(shop, buyer, { index, patienceMs });
    onEnd(experience);
    return experience;
  };
  return Promise.all(buyers.map(buy));
}

async function placeOrder(
  shop: OnSaleShop,
  buyer: Buyer,
  { index, patienceMs }: { index: number; patienceMs: number },
): Promise<Experience> {
  const startedAt = performance.now();
  const answers: string[] = [];
  let longestMs = 0;
  let at = index;
  for (;;) {
    const askedAt = performance.now();
    const answer = await ask(shop, buyer.cartId, at);
    longestMs = Math.max(longestMs, performance.now() - askedAt);
    answers.push(answer.label);
    // The load balancer sends the next call to another process.
    if (answer.end === "no answer") at += 1;
    const ms = performance.now() - startedAt;
    const isOver = answer.end !== "wait" && answer.end !== "no answer";
    if (isOver || ms > patienceMs) {
      const { end, message, orderId } = answer;
      return { buyer, end, message, orderId, ms, longestMs, answers };
    }
    await sleep(RETRY_MS);
  }
}

async function ask(shop: OnSaleShop, cartId: string, at: number) {
  const none = { message: "", orderId: null };
  const silence = { end: "no answer" as const, label: "no answer", ...none };
  const timeout = sleep(PROXY_MS, silence, { ref: false });
  const call = shop
    .storefront(at)
    .complete(cartId)
    .then(
      ({ status, body }) => {
        const { type, code, message = "", order, error } = body ?? {};
        if (status === 200 && type === "order") {
          return { end: "order" as const, label: "order", message: "", orderId: String(order.id) };
        }
        const hasFailed = message.startsWith("Updating Status from");
        const label = hasFailed ? MEDUSA_FAILED : `${status} ${code ?? error?.type ?? "without a code"}`;
        const is = (end: Experience["end"]) => ({
          end,
          label,
          message: message || (error?.message ?? ""),
          orderId: null,
        });
        // Medusa itself has no code for it, only its message.
        if (code === "insufficient_inventory" || /required inventory|enough stock/.test(message)) return is("sold out");
        if (message.startsWith("The payment was interrupted, so the order was canceled.")) return is("canceled");
        // Without this plugin, a lock's timeout is an error of the server: a buyer presses the button again.
        if (status === 409 || status >= 500 || hasFailed) return is("wait");
        return is("refused");
      },
      () => silence,
    );
  return Promise.race([call, timeout]);
}
