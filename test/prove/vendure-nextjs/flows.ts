import type { startBank } from "../../../examples/vendure/bank.js";
import type { GiftcardService, IssuedCard } from "../../../scripts/shops/card-service.mjs";
import { openShopper } from "../../../scripts/shops/vendure-shopper.mjs";
import type { FaultProxy } from "../../support/fault-proxy.js";
import { type Stage, Visit } from "./visit.js";

export interface FlowContext {
  readonly stage: Stage;
  readonly service: GiftcardService;
  readonly bank: Awaited<ReturnType<typeof startBank>>;
  /** The network between Vendure and the bank. Its only operation is `bank`. */
  readonly bankProxy: FaultProxy;
  /** Takes a picture of the page, if the trial keeps pictures. */
  readonly picture: (visit: Pick<Visit, "page">, name: string) => Promise<void>;
}

interface Purchase {
  readonly visit: Visit;
  /** The payments that the confirmation shows, and those expected. */
  readonly shown: readonly string[];
  readonly expected: readonly string[];
  /** The cents that each card must have paid, for this order and others. */
  readonly cards: readonly (readonly [IssuedCard, number])[];
  readonly bankCents: number;
}

/** A purchase of tickets of 37.49. A card may pay at most 50.00 of an order. */
export interface Flow {
  readonly name: string;
  readonly run: (context: FlowContext) => Promise<Purchase>;
}

const part = ({ cardnumber }: IssuedCard, amount: string) => `Gift card ending in ${cardnumber.slice(-4)} ${amount}`;
const other = (amount: string) => `Other payment ${amount}`;

function expectText(text: string, wanted: string): void {
  if (!text.includes(wanted)) throw new Error(`The page says "${text}", not "${wanted}".`);
}

export const flows: readonly Flow[] = [
  {
    name: "cards that cover everything",
    run: async ({ stage, service, picture }) => {
      const [first, second] = [await service.issueCard(7500), await service.issueCard(3000)];
      const visit = await Visit.start(stage);
      await picture(visit, "payment");
      await visit.applyCard(first, "€24.98");
      await visit.applyCard(second, "€0.00");
      if ((await visit.methods()).length > 0) throw new Error("The page offers methods for 0.00.");
      await picture(visit, "covered");
      await visit.toReview();
      await picture(visit, "covered-review");
      const shown = await visit.placeOrder();
      const expected = [part(first, "€50.00"), part(second, "€24.98")];
      return {
        visit,
        shown,
        expected,
        cards: [
          [first, 5000],
          [second, 2498],
        ],
        bankCents: 0,
      };
    },
  },
  {
    name: "a card and the bank",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage);
      await visit.applyCard(card, "€24.98");
      const methods = await visit.methods();
      if (methods.join() !== "bank") throw new Error(`The page offers ${methods.join()}.`);
      await picture(visit, "payment-with-card");
      await visit.toReview();
      await picture(visit, "review");
      const shown = await visit.placeOrder();
      await picture(visit, "confirmation");
      return {
        visit,
        shown,
        expected: [part(card, "€50.00"), other("€24.98")],
        cards: [[card, 5000]],
        bankCents: 2498,
      };
    },
  },
  {
    name: "a wrong PIN, then the right one after a reload",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage);
      await visit.checkCard({ ...card, pin: card.pin === "000000" ? "111111" : "000000" });
      await visit.tag.getByRole("alert").getByText("don't belong together").waitFor();
      await picture(visit, "wrong-pin");
      await visit.page.reload();
      await visit.applyCard(card, "€24.98");
      await visit.toReview();
      const shown = await visit.placeOrder();
      return {
        visit,
        shown,
        expected: [part(card, "€50.00"), other("€24.98")],
        cards: [[card, 5000]],
        bankCents: 2498,
      };
    },
  },
  {
    name: "a card that is removed again",
    run: async ({ stage, service }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage);
      await visit.applyCard(card, "€24.98");
      await visit.removeCard();
      await visit.toReview();
      return { visit, shown: await visit.placeOrder(), expected: [], cards: [[card, 0]], bankCents: 7498 };
    },
  },
  {
    name: "a card that is spent elsewhere at the last moment",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage);
      await visit.applyCard(card, "€24.98");
      await visit.toReview();
      const elsewhere = openShopper(stage.shopUrl);
      await elsewhere.order();
      await elsewhere.apply({ cardNumber: card.cardnumber, pin: card.pin });
      await elsewhere.payByCard();
      expectText(await visit.placeOrderInVain(), "The amounts have changed.");
      await visit.shows("€49.98");
      await picture(visit, "amounts-changed");
      const shown = await visit.placeOrder();
      // 50.00 for the other order, which is not paid in full yet.
      return {
        visit,
        shown,
        expected: [part(card, "€25.00"), other("€49.98")],
        cards: [[card, 7500]],
        bankCents: 4998,
      };
    },
  },
  {
    name: "a card that is blocked at the last moment",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage);
      await visit.applyCard(card, "€24.98");
      await visit.toReview();
      await service.command("card", "block", card.cardnumber, "--reason", "reported stolen");
      expectText(await visit.placeOrderInVain(), "This card is blocked.");
      await picture(visit, "blocked");
      await visit.toPayment();
      await visit.removeCard();
      await visit.toReview();
      return { visit, shown: await visit.placeOrder(), expected: [], cards: [], bankCents: 7498 };
    },
  },
  {
    name: "a bank that fails, then another attempt",
    run: async ({ stage, service, bankProxy, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.start(stage);
      await visit.applyCard(card, "€24.98");
      await visit.toReview();
      bankProxy.set("bank", "error");
      expectText(await visit.placeOrderInVain(), "Something went wrong on our side.");
      await picture(visit, "bank-failed");
      bankProxy.clear();
      await visit.shows("€24.98");
      const shown = await visit.placeOrder();
      return {
        visit,
        shown,
        expected: [part(card, "€50.00"), other("€24.98")],
        cards: [[card, 5000]],
        bankCents: 2498,
      };
    },
  },
  {
    name: "from the product page, with a cart that grows after the card",
    run: async ({ stage, service, picture }) => {
      const card = await service.issueCard(7500);
      const visit = await Visit.startAtProduct(stage);
      await visit.applyCard(card, "€0.00");
      await visit.addOneMore();
      await visit.goToCheckout();
      await visit.shows("€24.98");
      await visit.toReview();
      await picture(visit, "grown-cart");
      const shown = await visit.placeOrder();
      return {
        visit,
        shown,
        expected: [part(card, "€50.00"), other("€24.98")],
        cards: [[card, 5000]],
        bankCents: 2498,
      };
    },
  },
];
