import type { Answer } from "../../../packages/medusa/test/support/storefront.js";
import { call, isDone, type Scene } from "./call.js";
import { codes, type Good, goods, type ShopperStep, type Step } from "./scenario.js";

type Action = (scene: Scene, step: Step) => Promise<unknown>;

const cartPath = ({ cart }: Scene) => `/store/carts/${cart.id}`;
const cardsPath = ({ cart }: Scene) => `/store/giftcard-pay/carts/${cart.id}`;
/** The Medusa for all changes of a cart by Medusa's own routes, because Medusa's lock on a cart is per process. */
const HOME = 0;

/** The actions of a shopper, by the name of the step. None of them throws: the round's log records each answer. */
export const shopperActions: Record<ShopperStep, Action> = {
  async apply(scene, step) {
    const card = scene.round.cards[step.n ?? 0];
    if (!card) return;
    const body = { cardNumber: card.cardNumber, pin: card.pin };
    const what = `applies card ${step.n}`;
    noteCards(scene, await call(scene, step, { path: `${cardsPath(scene)}/cards`, body, what }));
  },
  async "quote and apply"(scene, step) {
    const card = scene.round.cards[step.n ?? 0];
    if (!card) return;
    const entry = { cardNumber: card.cardNumber, pin: card.pin };
    const quotePath = `${cardsPath(scene)}/quote`;
    const quote = await call(scene, step, {
      path: quotePath,
      body: entry,
      what: `asks for a quote of card ${step.n}`,
    });
    if (!isDone(quote)) return;
    const body = { quoteId: quote?.body.quoteId };
    const what = `applies card ${step.n} by its quote`;
    noteCards(scene, await call(scene, step, { path: `${cardsPath(scene)}/cards`, body, what }));
  },
  async remove(scene, step) {
    const { cart } = scene;
    const id = cart.cardIds[(step.n ?? 0) % Math.max(cart.cardIds.length, 1)];
    if (!id) return;
    const what = `removes card ${cart.cardIds.indexOf(id) + 1} of ${cart.cardIds.length}`;
    // Until the answer arrives, it is unknown whether the card is on the cart.
    cart.cardIds = cart.cardIds.filter((other) => other !== id);
    const path = `${cardsPath(scene)}/cards/${id}`;
    const answer = await call(scene, step, { method: "DELETE", path, what });
    if (answer?.status === 200) noteCards(scene, answer);
    else if (!cart.cardIds.includes(id)) cart.cardIds.push(id);
  },
  look,
  async quantity(scene, step) {
    const { itemIds } = scene.cart;
    const id = itemIds[(step.n ?? 0) % itemIds.length];
    const quantity = 1 + ((step.n ?? 0) % 3);
    const path = `${cartPath(scene)}/line-items/${id}`;
    await call(scene, step, { path, body: { quantity }, what: `wants ${quantity} of it`, medusa: HOME });
  },
  async "add item"(scene, step) {
    const names = Object.keys(goods) as Good[];
    const good = names[(step.n ?? 0) % names.length] as Good;
    const body = { variant_id: scene.stage.variantIds[good], quantity: 1 };
    await call(scene, step, {
      path: `${cartPath(scene)}/line-items`,
      body,
      what: `adds ${good}`,
      medusa: HOME,
    });
  },
  async shipping(scene, step) {
    const { shippingOptionIds } = scene.stage;
    const body = { option_id: shippingOptionIds[(step.n ?? 0) % shippingOptionIds.length] };
    const what = (step.n ?? 0) % 2 === 0 ? "wants it by e-mail" : "wants it by post";
    await call(scene, step, { path: `${cartPath(scene)}/shipping-methods`, body, what, medusa: HOME });
  },
  async promotion(scene, step) {
    const body = { promo_codes: [codes[(step.n ?? 0) % codes.length]] };
    const what = `enters ${body.promo_codes[0]}`;
    await call(scene, step, { path: `${cartPath(scene)}/promotions`, body, what, medusa: HOME });
  },
  async "no promotion"(scene, step) {
    const body = { promo_codes: [] };
    const what = "enters no promotion any more";
    await call(scene, step, { path: `${cartPath(scene)}/promotions`, body, what, medusa: HOME });
  },
  async "e-mail"(scene, step) {
    const body = { email: `ada${step.n ?? 0}@example.com` };
    await call(scene, step, {
      path: cartPath(scene),
      body,
      what: "changes the e-mail address",
      medusa: HOME,
    });
  },
  async region(scene, step) {
    const { regions } = scene.stage;
    const { id, country } = regions[(step.n ?? 0) % regions.length] ?? { id: "", country: "" };
    const body = { region_id: id, shipping_address: addressIn(country) };
    await call(scene, step, { path: cartPath(scene), body, what: `moves to ${country}`, medusa: HOME });
  },
  async session(scene, step) {
    const { cart } = scene;
    const body = { cart_id: cart.id };
    const what = "asks for a payment collection";
    const made = await call(scene, step, { path: "/store/payment-collections", body, what, medusa: HOME });
    const collection = made?.body?.payment_collection?.id;
    if (!collection) return;
    const how = step.how ?? "authorized";
    const answer = await call(scene, step, {
      path: `/store/payment-collections/${collection}/payment-sessions`,
      body: { provider_id: "pp_bank_bank", data: { cart: cart.id, behaviour: behaviours[how] ?? how } },
      what: `starts a payment (${how})`,
    });
    const [session] = answer?.body?.payment_collection?.payment_sessions ?? [];
    if (!session) return;
    cart.session = { id: session.id, amount: session.amount };
    cart.began.session.end(true);
  },
  async complete(scene, step) {
    const { began } = scene.cart;
    began.completing.end(true);
    const answer = await call(scene, step, { path: `${cartPath(scene)}/complete`, what: "places the order" });
    // The completion removed the empty card from the cart.
    if (answer?.body?.code === "card_no_balance") noteCards(scene, await look(scene, { ...step, do: "look" }));
    if (answer?.body?.type !== "order") return;
    began.order.end(true);
    began.answered.end(true);
  },
};

/** The bank's behaviours for the ways with another name. It asks for more until the shopper used its own page. */
const behaviours: Readonly<Record<string, string>> = {
  ...{ webhook: "requires_more", pays: "requires_more", later: "pending_authorization" },
};

function look(scene: Scene, step: Step): Promise<Answer | undefined> {
  return call(scene, step, { method: "GET", path: cardsPath(scene), what: "looks at the cards" });
}

function noteCards({ cart }: Scene, answer: Answer | undefined): void {
  if (!isDone(answer)) return;
  cart.cardIds = (answer?.body.cards ?? []).map(({ id }: { id: string }) => id);
}

export const addressIn = (country: string) => ({
  ...{ first_name: "Ada", last_name: "Jansen", address_1: "Gracht 1" },
  ...{ city: "Amsterdam", postal_code: "1011 AB", country_code: country },
});
