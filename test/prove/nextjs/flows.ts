import { press } from "../../../scripts/lib/press.mjs";
import type { GiftcardService, IssuedCard } from "../../../scripts/shops/card-service.mjs";
import type { FaultProxy } from "../../support/fault-proxy.js";
import type { PlayedStripe } from "../../support/played-stripe.js";
import { type Stage, Visit } from "./visit.js";

export interface FlowContext {
  readonly stage: Stage;
  readonly stripe: PlayedStripe;
  readonly service: GiftcardService;
  /** The network between Medusa and the service. */
  readonly proxy: FaultProxy;
  /** Takes a picture of the page, if the trial keeps pictures. */
  readonly picture: (visit: Pick<Visit, "page">, name: string) => Promise<void>;
}

/** A purchase. It returns the payments that the last page shows, and those expected. */
export interface Flow {
  readonly name: string;
  /** The exact cents that Stripe must have authorized or captured. Left out, if the purchase doesn't use Stripe: then 0. */
  readonly stripeCents?: number;
  readonly run: (context: FlowContext) => Promise<{ visit: Visit; shown: string[]; expected: string[] }>;
}

export const FESTIVAL = "summer-night-festival"; // 74.98
const CINEMA = "open-air-cinema"; // 20.00
const DUNES = "weekend-at-the-dunes"; // 120.00
export const MANUAL = "Manual Payment";
export const STRIPE = "Credit card";
export const GOOD_NUMBER = "4242424242424242";
const ASKING_NUMBER = "4000002500003155";
const DECLINED_NUMBER = "4000000000000002";

export const part = ({ cardnumber }: IssuedCard, amount: string) =>
  `Gift card ending in ${cardnumber.slice(-4)} ${amount}`;

/** Purchases whose remainder is paid by Medusa's manual payment. */
export const manualFlows: readonly Flow[] = [
  {
    name: "a card, then the method",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await picture(visit, "payment");
      await visit.applyCard(card, "€24.98");
      await picture(visit, "payment-with-card");
      await visit.choose(MANUAL);
      await visit.toReview();
      await picture(visit, "review");
      const shown = await visit.placeOrder();
      await picture(visit, "confirmation");
      return { visit, shown, expected: [part(card, "€50.00"), `${MANUAL} €24.98`] };
    },
  },
  {
    name: "the method, then a card",
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await visit.choose(MANUAL);
      await visit.toReview();
      await visit.applyCard(card, "€24.98");
      const shown = await visit.placeOrder();
      return { visit, shown, expected: [part(card, "€50.00"), `${MANUAL} €24.98`] };
    },
  },
  {
    name: "two cards and the method",
    run: async ({ stage, service }) => {
      const [first, second] = [await service.issueCard(7500), await service.issueCard(3000)];
      const visit = await Visit.start(stage, DUNES);
      await visit.applyCard(first, "€70.00");
      await visit.addCard(second, "€40.00");
      await visit.choose(MANUAL);
      await visit.toReview();
      const shown = await visit.placeOrder();
      return { visit, shown, expected: [part(first, "€50.00"), part(second, "€30.00"), `${MANUAL} €40.00`] };
    },
  },
  {
    name: "a card that covers everything",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, CINEMA);
      await visit.applyCard(card, "€0.00");
      await picture(visit, "covered");
      await press(visit.page.getByTestId("gift-cards-continue-button"));
      await picture(visit, "covered-review");
      return { visit, shown: await visit.placeOrder(), expected: [part(card, "€20.00")] };
    },
  },
  {
    name: "the method chosen, then a card that covers everything",
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, CINEMA);
      await visit.choose(MANUAL);
      await visit.toReview();
      await visit.applyCard(card, "€0.00");
      return { visit, shown: await visit.placeOrder(), expected: [part(card, "€20.00")] };
    },
  },
  {
    name: "covered, reloaded, the card removed, then the method",
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, CINEMA);
      await visit.applyCard(card, "€0.00");
      await visit.page.reload();
      await visit.page.getByTestId("gift-cards-continue-button").waitFor();
      await visit.removeCard();
      // No method is chosen yet, so the shopper must not be able to continue.
      const { titles, mayGoOn } = await visit.chosen();
      if (titles.length > 0 || mayGoOn)
        throw new Error(`${titles.join() || "no method"} is chosen, and the shopper can continue`);
      await visit.choose(MANUAL);
      await visit.toReview();
      return { visit, shown: await visit.placeOrder(), expected: [`${MANUAL} €20.00`] };
    },
  },
  {
    name: "a wrong PIN, then the right one, a reload, and the method",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await visit.checkCard({ ...card, pin: card.pin === "000000" ? "111111" : "000000" });
      await visit.tag.getByRole("alert").getByText("don't match").waitFor();
      await picture(visit, "wrong-pin");
      await visit.applyCard(card, "€24.98");
      await visit.page.reload();
      await visit.shows("€24.98");
      await visit.choose(MANUAL);
      await visit.toReview();
      const shown = await visit.placeOrder();
      return { visit, shown, expected: [part(card, "€50.00"), `${MANUAL} €24.98`] };
    },
  },
  {
    name: "a customer's order page",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL, true);
      await visit.applyCard(card, "€24.98");
      await visit.choose(MANUAL);
      await visit.toReview();
      await visit.placeOrder();
      const shown = await visit.openOrderPage();
      await picture(visit, "order-page");
      return { visit, shown, expected: [part(card, "€50.00"), `${MANUAL} €24.98`] };
    },
  },
];

/** Purchases whose remainder is paid with Stripe. */
export const stripeFlows: readonly Flow[] = [
  {
    name: "a card, then Stripe",
    stripeCents: 2498,
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await visit.applyCard(card, "€24.98");
      await visit.payByStripe(STRIPE, GOOD_NUMBER);
      await picture(visit, "stripe");
      await visit.toReview();
      const shown = await visit.placeOrder();
      return { visit, shown, expected: [part(card, "€50.00"), `${STRIPE} €24.98`] };
    },
  },
  {
    name: "Stripe with its number typed, then a card",
    stripeCents: 2498,
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await visit.payByStripe(STRIPE, GOOD_NUMBER);
      await visit.applyCard(card, "€24.98");
      // The typed number survives the new session, so the shopper doesn't type it again.
      await visit.toReview();
      const shown = await visit.placeOrder();
      return { visit, shown, expected: [part(card, "€50.00"), `${STRIPE} €24.98`] };
    },
  },
  {
    name: "Stripe that asks for more",
    stripeCents: 2498,
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await visit.applyCard(card, "€24.98");
      await visit.payByStripe(STRIPE, ASKING_NUMBER);
      await visit.toReview();
      const authenticate = visit.page.getByRole("button", { name: "Complete authentication" });
      await press(visit.page.getByTestId("submit-order-button"));
      await press(authenticate);
      const shown = await visit.confirmed();
      return { visit, shown, expected: [part(card, "€50.00"), `${STRIPE} €24.98`] };
    },
  },
  {
    name: "Stripe declines, then another number",
    stripeCents: 2498,
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await visit.applyCard(card, "€24.98");
      await visit.payByStripe(STRIPE, DECLINED_NUMBER);
      await visit.toReview();
      await press(visit.page.getByTestId("submit-order-button"));
      await visit.page.getByTestId("stripe-payment-error-message").waitFor();
      await press(visit.page.getByTestId("edit-payment-button"));
      await visit.typeNumber(GOOD_NUMBER);
      await visit.toReview();
      const shown = await visit.placeOrder();
      return { visit, shown, expected: [part(card, "€50.00"), `${STRIPE} €24.98`] };
    },
  },
  {
    name: "Stripe chosen, then a card that covers everything",
    stripeCents: 0,
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, CINEMA);
      await visit.payByStripe(STRIPE, GOOD_NUMBER);
      await visit.applyCard(card, "€0.00");
      await press(visit.page.getByTestId("gift-cards-continue-button"));
      return { visit, shown: await visit.placeOrder(), expected: [part(card, "€20.00")] };
    },
  },
  {
    name: "Stripe chosen, then a card that covers everything, then the card removed",
    stripeCents: 2000,
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, CINEMA);
      await visit.payByStripe(STRIPE, GOOD_NUMBER);
      await visit.applyCard(card, "€0.00");
      await visit.removeCard();
      // The page keeps the chosen method, but not the typed number.
      await visit.typeNumber(GOOD_NUMBER);
      const { titles } = await visit.chosen();
      if (titles.join() !== STRIPE) throw new Error(`${titles.join() || "no method"} is chosen`);
      await visit.toReview();
      return { visit, shown: await visit.placeOrder(), expected: [`${STRIPE} €20.00`] };
    },
  },
  {
    name: "a card, then Stripe, then the card removed",
    stripeCents: 7498,
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage, FESTIVAL);
      await visit.applyCard(card, "€24.98");
      await visit.payByStripe(STRIPE, GOOD_NUMBER);
      await visit.removeCard();
      await visit.toReview();
      return { visit, shown: await visit.placeOrder(), expected: [`${STRIPE} €74.98`] };
    },
  },
];
