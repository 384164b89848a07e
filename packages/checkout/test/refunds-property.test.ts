import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Checkout,
  type CheckoutOptions,
  createCheckout,
  type OrderLine,
  RefundError,
  type RefundedPayment,
  type RefundRequest,
} from "../src/index.js";
import { Bank } from "./bank.js";
import { newCart, type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";
import { stores, type TestStore } from "./stores.js";

/** The orders per store. `SEED=… ORDERS=1000` makes others. */
const { SEED: seed = "1", ORDERS: orders = "40" } = process.env;
const rules = ["as-paid", "cards-first", "remainder-first", "in-proportion"] as const;

/** Makes a random generator with a seed. */
function random(from: number) {
  let state = from;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const upTo = (max: number) => Math.floor(next() * (max + 1));
  return { upTo, pick: <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T };
}
type Random = ReturnType<typeof random>;

const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);

function newLines({ upTo, pick }: Random): OrderLine[] {
  return Array.from({ length: 1 + upTo(3) }, (_, index) => ({
    ...{ id: `line-${index}`, quantity: pick([1, 1, 2, 3, 7]) },
    totalCents: cents(pick([0, 1, 5, 999, 1250, 3749, 7498]) + upTo(20)),
  }));
}

/** An independent record of an order, without its charges. */
interface Story {
  readonly orderId: string;
  readonly lines: readonly OrderLine[];
  readonly cards: readonly { readonly card: TestCard; readonly issuedCents: number }[];
  /** The number of returned units of each line. */
  readonly returned: Map<string, number>;
  backCents: number;
}

/** The units of a line differ by at most a cent, and add up to its total. */
function isWorth({ lines }: Story, wished: Readonly<Record<string, number>>, amountCents: number): boolean {
  const bounds = lines.map(({ id, quantity, totalCents }) => {
    const count = wished[id] ?? 0;
    const lowCents = count * Math.floor(totalCents / quantity);
    const extraCents = totalCents % quantity;
    const isAll = count === quantity;
    return [lowCents + (isAll ? extraCents : 0), lowCents + Math.min(extraCents, count)] as const;
  });
  const [low, high] = [sum(bounds.map(([from]) => from)), sum(bounds.map(([, to]) => to))];
  return low <= amountCents && amountCents <= high;
}

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

for (const [name, open] of Object.entries(stores)) {
  describe(`random returns of random orders on ${name}`, () => {
    let store: TestStore;
    const bank = new Bank();
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const checkout = (options: Partial<CheckoutOptions> = {}): Checkout =>
      createCheckout({
        ...{ issuer: shop.client, environment: "sandbox", store, sealingKeys, remainder: bank.method },
        ...{ onFailure: () => {}, ...options },
      });

    function bankCents(attemptId: string): number {
      const payment = bank.payments.get(attemptId);
      const parts = [...bank.refunds.values()].filter((part) => part.attemptId === attemptId);
      const leftCents = (payment?.cents ?? 0) - sum(parts.map(({ cents }) => cents));
      expect(leftCents).toBeGreaterThanOrEqual(0);
      return payment?.state === "authorized" ? leftCents : 0;
    }

    async function buy(chance: Random): Promise<{ story: Story; by: Checkout }> {
      const { pick } = chance;
      const lines = newLines(chance);
      const cart = newCart(sum(lines.map(({ totalCents }) => totalCents)));
      const by = checkout({
        charges: pick(["whole", "by-line", "by-line"]),
        maxChargesPerCard: pick([1, 2, 10]),
      });
      const cards: Story["cards"][number][] = [];
      for (const issuedCents of pick([[7500], [1000, 5000], [300, 1250, 20]])) {
        const left = (await by.list(cart)).remainderCents;
        if (left === 0) break;
        const card = await shop.card(issuedCents);
        await by.apply(cart, card);
        cards.push({ card, issuedCents });
      }
      const orderId = `order_${randomUUID()}`;
      const paid = await by.pay({ id: orderId, cart, lines, plan: (await by.list(cart)).plan });
      expect(paid.status).toBe("paid");
      return { story: { orderId, lines, cards, returned: new Map(), backCents: 0 }, by };
    }

    function newWish({ upTo, pick }: Random, { lines, returned }: Story): RefundRequest {
      const rule = pick([undefined, undefined, ...rules]);
      if (pick([true, false, false])) return { amountCents: cents(pick([1, 999, 1251, 2498, 1 + upTo(9000)])), rule };
      const wished = lines.map(({ id, quantity }) => {
        const left = quantity - (returned.get(id) ?? 0);
        return [id, pick([0, 1, left, upTo(left + 1)])] as const;
      });
      return { lines: Object.fromEntries(wished.filter(([, units]) => units > 0)), rule };
    }

    /** Injects a fault into some of the calls. */
    async function trouble({ pick }: Random): Promise<void> {
      shop.proxy.clear();
      shop.proxy.set(
        "canceldevalue",
        pick(["pass", "pass", "cut-before", "cut-after", "error", "half"]),
        1,
        pick([0, 1]),
      );
      bank.isDown = pick([false, false, false, true]);
    }

    async function calm(by: Checkout): Promise<void> {
      shop.proxy.clear();
      bank.isDown = false;
      await store.letLeasesRunOut();
      await by.recover();
    }

    /** Checks that all books agree to the cent: the cards, the bank, the results, and the record. */
    async function check({ orderId, cards, backCents }: Story): Promise<void> {
      const purchase = await store.purchases.read(orderId);
      const payment = await checkout().paidBy(orderId);
      if (!purchase) throw new Error("the order is gone");
      const { remainder, totalCents } = payment;
      expect(sum(payment.cards.map((one) => one.amountCents)) + remainder.amountCents).toBe(totalCents);
      for (const [index, { card, issuedCents }] of cards.entries()) {
        const told = payment.cards[index] ?? { amountCents: 0, refundedCents: 0 };
        const holds = issuedCents - told.amountCents + told.refundedCents;
        expect([orderId, index, await card.balanceCents()]).toEqual([orderId, index, holds]);
        expect(holds).toBeLessThanOrEqual(issuedCents);
      }
      expect(bankCents(purchase.attemptId)).toBe(remainder.amountCents - remainder.refundedCents);
      const toldCents = sum(payment.cards.map((one) => one.refundedCents)) + remainder.refundedCents;
      expect([orderId, toldCents]).toEqual([orderId, backCents]);
      const isAll = backCents === totalCents;
      expect([orderId, purchase.state]).toEqual([orderId, isAll && backCents > 0 ? "refunded" : "paid"]);
    }

    async function giveBack(
      chance: Random,
      story: Story,
      by: Checkout,
    ): Promise<"refunded" | "not possible" | "refused"> {
      const wish = newWish(chance, story);
      const request = { id: `return_${randomUUID()}`, ...wish };
      const plan = await by.refundPlan(story.orderId, wish).catch((error: unknown) => error);
      await trouble(chance);
      const answer = await by.refund(story.orderId, request).catch((error: unknown) => error);
      await calm(by);
      if (answer instanceof RefundError && answer.code === "invalid_refund") {
        expect(plan).toEqual(answer);
        return "refused";
      }
      if (answer instanceof RefundError) {
        expect(plan).toMatchObject({ isPossible: false, nearest: answer.nearest });
        for (const { amountCents } of answer.nearest) expect(amountCents).toBeLessThanOrEqual(leftCents(story));
        return "not possible";
      }
      if (answer instanceof Error) throw answer;
      const { refund: again } = await checkout().refund(story.orderId, request);
      const { amountCents } = again;
      expect(plan).toMatchObject({
        isPossible: true,
        amountCents,
        cards: again.cards,
        remainderCents: again.remainderCents,
      });
      expect({ ...(answer as RefundedPayment).refund, isDone: true }).toEqual(again);
      expect(sum(again.cards.map((one) => one.amountCents)) + again.remainderCents).toBe(amountCents);
      if (wish.lines === undefined) expect(amountCents).toBe(wish.amountCents);
      else expect([wish.lines, isWorth(story, wish.lines, amountCents)]).toEqual([wish.lines, true]);
      for (const [id, units] of Object.entries(wish.lines ?? {}))
        story.returned.set(id, (story.returned.get(id) ?? 0) + units);
      story.backCents += amountCents;
      return "refunded";
    }

    const leftCents = ({ lines, backCents }: Story) => sum(lines.map(({ totalCents }) => totalCents)) - backCents;

    it(`refund the value of the units, and never more than was taken (seed ${seed}, ${orders} orders)`, {
      tags: name === "PostgreSQL" ? "long" : [],
      timeout: 120_000,
    }, async () => {
      const chance = random(Number(seed));
      const counts = { refunded: 0, "not possible": 0, refused: 0 };
      for (let count = 0; count < Number(orders); count++) {
        bank.payments.clear();
        bank.refunds.clear();
        await store.sql(
          "delete from giftcard_refund; delete from giftcard_purchase; delete from giftcard_charge; delete from giftcard_tender",
        );
        const { story, by } = await buy(chance);
        for (let returns = 1 + chance.upTo(2); returns > 0; returns--) counts[await giveBack(chance, story, by)] += 1;
        await check(story);
        if (chance.upTo(3) > 0) continue;
        await by.cancel(story.orderId);
        await calm(by);
        story.backCents += leftCents(story);
        const held = await Promise.all(story.cards.map(({ card }) => card.balanceCents()));
        expect(held).toEqual(story.cards.map(({ issuedCents }) => issuedCents));
        expect(bank.heldCents).toBe(0);
      }
      // Most of the calls were not refused.
      expect(counts.refunded).toBeGreaterThan(Number(orders) * 0.5);
      expect(counts["not possible"]).toBeGreaterThan(0);
    });
  });
}
