import { expect, test } from "vitest";
import { useStage } from "./support/stage.js";

const stage = useStage();
const FAULT = "... on ErrorResult { errorCode message }";
const LIST = "{ giftcards { ... on GiftcardSummary { total } ... on GiftcardError { code } } }";

/** Creates a channel that sells the ticket and takes these payment methods. */
async function createChannel(token: string, methods: readonly string[]) {
  const admin = stage().admin();
  const zone = (await admin.call("{ zones { items { id } } }")).items[0].id;
  const { id: channelId } = await admin.call(
    `mutation ($input: CreateChannelInput!) { createChannel(input: $input) { ... on Channel { id } ${FAULT} } }`,
    {
      input: {
        ...{ code: token, token, defaultLanguageCode: "en", defaultCurrencyCode: "EUR", pricesIncludeTax: true },
        ...{ defaultTaxZoneId: zone, defaultShippingZoneId: zone },
      },
    },
  );
  const assign = async (type: string, idsName: string, ids: string[], more = {}) =>
    admin.call(`mutation ($input: Assign${type}ToChannelInput!) { assign${type}ToChannel(input: $input) { id } }`, {
      input: { channelId, [idsName]: ids, ...more },
    });
  const products = (await admin.call("{ products { items { id } } }")).items;
  await assign(
    "Products",
    "productIds",
    products.map(({ id }: { id: string }) => id),
    { priceFactor: 1 },
  );
  const shipping = (await admin.call("{ shippingMethods { items { id } } }")).items;
  await assign(
    "ShippingMethods",
    "shippingMethodIds",
    shipping.map(({ id }: { id: string }) => id),
  );
  const all: { id: string; code: string }[] = (await admin.call("{ paymentMethods { items { id code } } }")).items;
  const chosen = all.filter(({ code }) => methods.includes(code)).map(({ id }) => id);
  await assign("PaymentMethods", "paymentMethodIds", chosen);
}

test("a channel without the payment method takes no cards", { tags: "long" }, async () => {
  await createChannel("no-cards", ["bank"]);
  const shopper = stage().shopper("no-cards");
  await shopper.order();
  expect(await shopper.ask(LIST)).toMatchObject({ code: "giftcards_not_accepted" });
});

test("sells, refunds and cancels in a channel with its own payment methods", { tags: "long" }, async () => {
  await createChannel("second", ["giftcard", "bank"]);
  const shopper = stage().shopper("second");
  const { id, code } = await shopper.order();
  const card = await stage().issueCard(7500);
  await shopper.apply(card);
  await shopper.payByCard();
  expect(await shopper.payByBank(2498)).toMatchObject({ state: "PaymentSettled" });
  const order = { code, cards: [card], issuedCents: 7500 };
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  const { id: paymentId } = await stage().paymentOf(code, "giftcard");
  await stage().admin().refund(paymentId, 3749);
  await stage().expectHeld(order, { state: "PaymentSettled", cards: 1251, bank: 2498 });
  const admin = await stage().openAdmin({ channel: "second" });
  await admin.cancel(id);
  await stage().expectHeld(order, { state: "Cancelled", cards: 0, bank: 0 });
});
