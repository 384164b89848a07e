import pg from "pg";
import { expect } from "vitest";
import type { FaultProxy } from "../../../../test/support/fault-proxy.js";
import { type PlayedStripe, startPlayedStripe } from "../../../../test/support/played-stripe.js";
import { startStripeWire } from "../../../../test/support/stripe-wire.js";
import { startShop, type TestShop } from "./shop.js";
import type { Answer, Card } from "./storefront.js";

const STRIPE = "pp_stripe_stripe";
const GIFTCARD = "pp_giftcard_giftcard";

/** A card with its initial balance. */
interface IssuedCard extends Card {
  readonly balanceCents: number;
}

/** The figures of one cart in the gift card service, Stripe and Medusa. */
export interface Standing {
  /** Charged to its cards. */
  readonly cardCents: number;
  /** Authorized at Stripe and not captured. */
  readonly heldCents: number;
  /** Captured at Stripe minus refunded. */
  readonly takenCents: number;
}

/** A cart paid by cards and Stripe. */
export interface StripeCart {
  readonly cartId: string;
  readonly cards: readonly IssuedCard[];
}

/** A payment session that a page created at Stripe. */
export interface StripeSession {
  readonly id: string;
  readonly intentId: string;
  readonly clientSecret: string;
}

/** A shop with Medusa's own Stripe provider, a simulated Stripe, and a network between them that can fail. */
export interface StripeShop {
  readonly shop: TestShop;
  readonly stripe: PlayedStripe;
  /** The proxy to Stripe, with operations `create`, `retrieve`, `cancel`, `capture`, `refund` and `customer`. */
  readonly wire: FaultProxy;
  query(statement: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** A cart for 74.98 with these cards applied. */
  createCart(...balances: number[]): Promise<StripeCart>;
  issueCard(balanceCents: number): Promise<IssuedCard>;
  /** Chooses Stripe as a page does. @param data sent along, such as `capture_method` */
  chooseStripe(cartId: string, data?: Record<string, unknown>): Promise<StripeSession>;
  /** Sends an intent's webhooks of these types, by default all, in order. @param url the Medusa to send to */
  tell(intentId: string, types?: readonly string[], url?: string): Promise<void>;
  /** The cart's order, or undefined. */
  orderOf(cartId: string): Promise<string | undefined>;
  /** Waits until all three systems agree on these figures and no intent of any cart disagrees with Medusa. */
  expectStanding(cart: StripeCart, standing: Partial<Standing>): Promise<void>;
  stop(): Promise<void>;
}

/** Medusa's figures of each Stripe session of a cart, or of all carts, including deleted sessions. */
const MEDUSA = `
  select s.id, round(coalesce(sum(p.amount) filter (where p.canceled_at is null and taken.captured is null), 0) * 100)::integer as held,
    round(coalesce(sum(taken.captured - coalesce(taken.refunded, 0)), 0) * 100)::integer as taken
  from payment_session s
  left join cart_payment_collection l on l.payment_collection_id = s.payment_collection_id
  left join payment p on p.payment_session_id = s.id and p.deleted_at is null
  left join lateral (select
    (select sum(amount) from capture where payment_id = p.id and deleted_at is null) as captured,
    (select sum(amount) from refund where payment_id = p.id and deleted_at is null) as refunded) taken on true
  where s.provider_id = $1 and ($2::text is null or l.cart_id = $2) group by s.id`;

/** @param env additional settings of Medusa @param options plugin options */
export async function startStripeShop(env: Record<string, string> = {}, options: object = {}): Promise<StripeShop> {
  const stripe = await startPlayedStripe();
  const wire = await startStripeWire(stripe.url);
  const shop = await startShop(
    {
      ...{ TEST_STRIPE_URL: wire.url, TEST_STRIPE_API_KEY: stripe.apiKey },
      ...{ TEST_STRIPE_WEBHOOK_SECRET: stripe.webhookSecret, ...env },
    },
    options,
  ).catch(async (error) => {
    await wire.stop();
    await stripe.stop();
    throw error;
  });
  const database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  const query = async (statement: string, values: unknown[] = []) => (await database.query(statement, values)).rows;

  /** The sessions that a cart's page created, including those that Medusa has deleted since. */
  const chosen = new Map<string, string[]>();

  const issueCard = async (balanceCents: number): Promise<IssuedCard> => ({
    ...(await shop.service.issueCard({ balanceCents })),
    balanceCents,
  });

  /** The differences between Medusa and Stripe, by session. */
  async function differences(): Promise<object[]> {
    const rows = await query(MEDUSA, [STRIPE, null]);
    return stripe.intents.all().flatMap((intent) => {
      const { session_id: id } = intent.metadata;
      const medusa = rows.find((row) => row.id === id);
      const held = stripe.intents.heldCents(intent.id);
      const taken = stripe.intents.takenCents(intent.id);
      const isSame = (medusa?.taken ?? 0) === taken && (medusa?.held ?? 0) === held;
      return isSame ? [] : [{ id, status: intent.status, stripe: { held, taken }, medusa }];
    });
  }

  async function standingOf({ cartId, cards }: StripeCart) {
    const sessions = await query(MEDUSA, [STRIPE, cartId]);
    const ids = [...(chosen.get(cartId) ?? []), ...sessions.map(({ id }) => String(id))];
    const intents = stripe.intents.all().filter(({ metadata }) => ids.includes(metadata.session_id ?? ""));
    const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
    const [gift] = await query(
      `select coalesce(round(sum(p.amount - coalesce((select sum(amount) from refund where payment_id = p.id and deleted_at is null), 0)) * 100), 0)::integer as cents
       from payment p join cart_payment_collection l using (payment_collection_id)
       where l.cart_id = $1 and p.provider_id = $2 and p.canceled_at is null and p.deleted_at is null`,
      [cartId, GIFTCARD],
    );
    const off = await Promise.all(cards.map(async (card) => card.balanceCents - (await shop.balanceCents(card))));
    return {
      service: sum(off),
      stripe: {
        held: sum(intents.map(({ id }) => stripe.intents.heldCents(id))),
        taken: sum(intents.map(({ id }) => stripe.intents.takenCents(id))),
      },
      medusa: {
        gift: gift?.cents,
        held: sum(sessions.map(({ held }) => Number(held))),
        taken: sum(sessions.map(({ taken }) => Number(taken))),
      },
    };
  }

  return {
    ...{ shop, stripe, wire, query, issueCard },
    async createCart(...balances) {
      const cartId = await shop.storefront.createCart();
      const cards: IssuedCard[] = [];
      for (const balanceCents of balances) {
        const card = await issueCard(balanceCents);
        expect((await shop.storefront.apply(cartId, card)).status).toBe(200);
        cards.push(card);
      }
      return { cartId, cards };
    },
    async chooseStripe(cartId, data) {
      const answer = await shop.storefront.initiate(cartId, STRIPE, data);
      const session = sessionOf(answer);
      chosen.set(cartId, [...(chosen.get(cartId) ?? []), session.id]);
      return session;
    },
    async tell(intentId, types, url = shop.medusa.url) {
      for (const event of stripe.events) {
        const isWanted = types === undefined || types.includes(event.type.replace("payment_intent.", ""));
        if (event.data.object.id !== intentId || !isWanted) continue;
        expect(await stripe.deliver(event, `${url}/hooks/payment/stripe_stripe`)).toBe(200);
      }
    },
    async orderOf(cartId) {
      const rows = await query("select order_id from order_cart where cart_id = $1 and deleted_at is null", [cartId]);
      expect(rows.length).toBeLessThan(2);
      return rows[0]?.order_id as string | undefined;
    },
    async expectStanding(cart, { cardCents = 0, heldCents: held = 0, takenCents: taken = 0 }) {
      const wanted = {
        service: cardCents,
        stripe: { held, taken },
        medusa: { gift: cardCents, held, taken },
      };
      await expect.poll(() => standingOf(cart)).toEqual(wanted);
      expect(await differences()).toEqual([]);
    },
    stop: async () => {
      await database.end();
      await shop.stop();
      await wire.stop();
      await stripe.stop();
    },
  };
}

function sessionOf({ status, body }: Answer): StripeSession {
  expect({ status, body }).toMatchObject({ status: 200 });
  const [session] = body.payment_collection.payment_sessions;
  return { id: session.id, intentId: session.data.id, clientSecret: session.data.client_secret };
}
