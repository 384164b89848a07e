import pg from "pg";
import { createStorefront } from "../../../packages/medusa/test/support/storefront.js";
import { press } from "../../../scripts/lib/press.mjs";
import type { IssuedCard } from "../../../scripts/shops/card-service.mjs";
import { FESTIVAL, type Flow, type FlowContext, GOOD_NUMBER, MANUAL, part, STRIPE } from "./flows.js";
import { Visit } from "./visit.js";

const SETTLING =
  "A payment with this card isn't finished yet. This can take a few minutes. If it fails, the money goes back to the card.";
const NOT_PLACED = "Your order wasn't placed.";

/** A cause for which a card can't be charged any more, and the reason that the page must show. */
interface CardFault {
  readonly name: string;
  readonly happen: (context: FlowContext, card: IssuedCard) => Promise<unknown>;
  readonly reason: string;
  /** Whether the cart counts on the card until the shopper removes it. */
  readonly pays: boolean;
}

const cardFaults: readonly CardFault[] = [
  {
    name: "a card that is blocked",
    happen: ({ service }, { cardnumber }) =>
      service.command("card", "block", cardnumber, "--reason", "reported stolen"),
    reason: "This card is blocked. Use another card, or ask the shop that sold it.",
    pays: true,
  },
  {
    name: "a card that expires",
    // The issuer's commands can't shorten a card's validity.
    happen: ({ service }, { cardnumber }) => expire(service.databaseUrl, cardnumber),
    reason: "This card has expired. Use another card.",
    pays: true,
  },
  {
    name: "a card that is emptied",
    happen: ({ service }, card) => takeOff(service, card, 7500),
    reason: "This card is empty. Use another card.",
    pays: false,
  },
];

/** Everything that stops an order in a production build. The page shows each reason at its button, and a card's also below it. */
export const refusalFlows: readonly Flow[] = [
  ...cardFaults.map(
    ({ name, happen, reason, pays }): Flow => ({
      name: `${name} before the order is placed, then the method alone`,
      run: async (context) => {
        const { visit, card } = await toReview(context);
        await happen(context, card);
        const texts = [await visit.placeOrderInVain(), ...(await visit.cardNotes())];
        await context.picture(visit, name.replaceAll(" ", "-"));
        await visit.page.reload();
        await visit.tag.locator("#summary").waitFor();
        texts.push(...(await visit.cardNotes()));
        if (!pays) await sessionIsFor(context, visit, 74.98);
        await visit.removeCard(pays);
        const shown = await visit.placeOrder();
        const below = `${NOT_PLACED} ${reason}`;
        return { visit, shown: [...texts, ...shown], expected: [reason, below, below, `${MANUAL} €74.98`] };
      },
    }),
  ),
  {
    name: "a card that holds less by now, then the new amounts",
    run: async (context) => {
      const { visit, card } = await toReview(context);
      await takeOff(context.service, card, 6000);
      await visit.placeOrderInVain();
      const notes = await visit.cardNotes();
      await context.picture(visit, "a-card-that-holds-less");
      await visit.shows("€59.98");
      await sessionIsFor(context, visit, 59.98);
      const shown = await visit.placeOrder();
      const changed = `${NOT_PLACED} The balance of the card ending in ${card.cardnumber.slice(-4)} has changed.`;
      return { visit, shown: [...notes, ...shown], expected: [changed, part(card, "€15.00"), `${MANUAL} €59.98`] };
    },
  },
  {
    name: "an outcome that is not known",
    run: async (context) => {
      const { visit, card } = await toReview(context);
      context.proxy.set("devalue", "cut-after", 1);
      context.proxy.set("canceldevalue", "cut-before");
      await visit.placeOrderAndWait();
      const notes = await visit.cardNotes();
      await context.picture(visit, "an-outcome-that-is-not-known");
      await visit.page.reload();
      // One more click can't order for 74.98.
      await visit.waiting.waitFor();
      context.proxy.clear();
      // Recovery runs every minute. The page notices by itself.
      await visit.shows("€24.98");
      await sessionIsFor(context, visit, 24.98);
      return {
        visit,
        shown: [...notes, ...(await visit.placeOrder())],
        expected: [SETTLING, part(card, "€50.00"), `${MANUAL} €24.98`],
      };
    },
  },
  {
    name: "an outcome that is not known, and a shopper who does without the card",
    run: async (context) => {
      const { visit, card } = await toReview(context);
      const { proxy, service } = context;
      proxy.set("devalue", "cut-after", 1);
      proxy.set("canceldevalue", "cut-before");
      await visit.placeOrderAndWait();
      await press(visit.tag.getByRole("button", { name: "Pay €74.98 without the card" }));
      await sessionIsFor(context, visit, 74.98);
      const shown = await visit.placeOrder();
      proxy.clear();
      for (const until = Date.now() + 120_000; Date.now() < until; ) {
        const { balance } = await service.command("card", "show", card.cardnumber);
        if (balance === 7500) return { visit, shown, expected: [`${MANUAL} €74.98`] };
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
      throw new Error("The card's money isn't returned.");
    },
  },
  {
    name: "another call that is completing the cart: the page waits, and gets its order",
    run: async (context) => {
      const { visit, card } = await toReview(context);
      const { proxy, stage } = context;
      proxy.set("devalue", "hold", 1);
      const held = proxy.seen.length;
      const other = createStorefront(stage.store).complete(visit.cartId);
      while (proxy.seen.slice(held).every(({ operation }) => operation !== "devalue"))
        await new Promise((resolve) => setTimeout(resolve, 20));
      const placing = visit.placeOrder();
      // The page's call has to reach Medusa before the other one ends.
      await visit.page.getByTestId("submit-order-button").and(visit.page.locator(":disabled")).waitFor();
      await proxy.release();
      await other;
      return { visit, shown: await placing, expected: [part(card, "€50.00"), `${MANUAL} €24.98`] };
    },
  },
  {
    name: "a show that is sold out",
    run: async (context) => {
      const { visit } = await toReview(context);
      const restock = await sellOut(context);
      const reason = await visit.placeOrderInVain();
      const notes = await visit.cardNotes();
      await context.picture(visit, "a-show-that-is-sold-out");
      await restock();
      const expected = "Summer Night Festival, Two tickets: Too few left. Your order wasn't placed.";
      return { visit, shown: [reason, ...notes], expected: [expected] };
    },
  },
  ...[false, true].map(
    (isKnown): Flow => ({
      name: `a bank that declines after the page's confirmation${isKnown ? ", before the shop places the order" : ""}`,
      stripeCents: 0,
      run: async (context) => {
        const { stage, service, stripe } = context;
        const card = await service.issueCard(7500);
        const visit = await Visit.start(stage, FESTIVAL);
        await visit.applyCard(card, "€24.98");
        await visit.payByStripe(STRIPE, GOOD_NUMBER);
        await visit.toReview();
        await visit.page.route("**/v1/payment_intents/*/confirm", async (route) => {
          const response = await route.fetch();
          const { id } = await response.json();
          stripe.intents.cancel(id, null);
          if (isKnown) await hasSession(context, visit, ({ status }) => status === "canceled");
          await route.fulfill({ response });
        });
        const reason = await visit.placeOrderInVain();
        const notes = await visit.cardNotes();
        await context.picture(visit, "a-bank-that-declines");
        const { balance } = await service.command("card", "show", card.cardnumber);
        const expected = "The payment was declined. Gift cards get their money back. Pay another way.";
        return { visit, shown: [reason, ...notes, `${balance}`], expected: [expected, "7500"] };
      },
    }),
  ),
];

/** Opens the review of an order of 74.98, of which a card pays 50.00. */
async function toReview({ stage, service }: FlowContext): Promise<{ visit: Visit; card: IssuedCard }> {
  const card = await service.issueCard(7500);
  const visit = await Visit.start(stage, FESTIVAL);
  await visit.applyCard(card, "€24.98");
  await visit.choose(MANUAL);
  await visit.toReview();
  return { visit, card };
}

interface Session {
  amount: number;
  status: string;
}

/** Waits until the cart has a payment session like this. */
async function hasSession(
  { stage }: FlowContext,
  { cartId }: Visit,
  isLike: (session: Session) => boolean,
): Promise<void> {
  const shop = createStorefront(stage.store);
  const fields = ["amount", "status"].map((name) => `payment_collection.payment_sessions.${name}`);
  for (const until = Date.now() + 30_000; ; ) {
    const { cart } = await shop.ok("GET", `/store/carts/${cartId}?fields=${fields}`);
    const sessions: Session[] = cart.payment_collection?.payment_sessions ?? [];
    if (sessions.some(isLike)) return;
    if (Date.now() > until) throw new Error(`The cart's payment sessions are ${JSON.stringify(sessions)}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waits until the cart has a payment session for this amount in euro. */
const sessionIsFor = (context: FlowContext, visit: Visit, euro: number) =>
  hasSession(context, visit, ({ amount }) => amount === euro);

/** Takes cents off a card, as a purchase elsewhere does. */
const takeOff = (service: FlowContext["service"], { cardnumber }: IssuedCard, cents: number) =>
  service.command("card", "adjust", cardnumber, "--by", `-${cents}`, "--reason", "spent elsewhere");

async function expire(databaseUrl: string, cardnumber: string): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query("update cards set expiry_date = current_date - 2 where last_four = $1", [
      cardnumber.slice(-4),
    ]);
  } finally {
    await database.end();
  }
}

/** Leaves no unit of the festival. @returns what restores the stock */
async function sellOut({ stage }: FlowContext): Promise<() => Promise<unknown>> {
  const shop = createStorefront(stage.store);
  const fields = "fields=id,location_levels.*";
  const { inventory_items } = await shop.ok("GET", `/admin/inventory-items?sku=SUMMER-NIGHT-2&${fields}`);
  const [{ id, location_levels }] = inventory_items;
  const { location_id, stocked_quantity, reserved_quantity } = location_levels[0];
  const level = `/admin/inventory-items/${id}/location-levels/${location_id}`;
  await shop.ok("POST", level, { stocked_quantity: reserved_quantity });
  return () => shop.ok("POST", level, { stocked_quantity });
}
