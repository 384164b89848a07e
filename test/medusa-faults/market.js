const { Modules } = require("@medusajs/framework/utils");
const flows = require("@medusajs/medusa/core-flows");

const address = {
  first_name: "Ada",
  last_name: "Jansen",
  address_1: "Gracht 1",
  city: "Amsterdam",
  postal_code: "1011 AB",
  country_code: "nl",
};

/** Returns what the scenarios need of the seeded shop: its container, and functions that buy. */
async function openShop(container) {
  const query = container.resolve("query");
  const read = async (entity, fields, filters = {}) => (await query.graph({ entity, fields, filters })).data;
  const [region] = await read("region", ["id"]);
  const [channel] = await read("sales_channel", ["id"]);
  const options = await read("shipping_option", ["id", "prices.amount"]);
  const shipping = options.find(({ prices }) => prices.some(({ amount }) => amount === 0));
  const run = async (flow, input) => (await flow(container).run({ input })).result;
  await run(flows.updateRegionsWorkflow, {
    selector: { id: region.id },
    update: { payment_providers: ["pp_bank_bank"] },
  });

  const variantOf = async (sku) => (await read("variant", ["id"], { sku }))[0].id;

  async function levelOf(sku) {
    const [item] = await read("inventory_item", ["id"], { sku });
    const [level] = await read("inventory_level", ["*"], { inventory_item_id: item.id });
    return level;
  }

  return {
    container,
    read,
    run,
    flows,
    variantOf,
    levelOf,

    /** Sets the stock of a variant, whose inventory item has the same SKU. @returns the item and its location */
    async stock(sku, stocked_quantity) {
      const { inventory_item_id, location_id } = await levelOf(sku);
      const level = { inventory_item_id, location_id };
      await container.resolve(Modules.INVENTORY).updateInventoryLevels([{ ...level, stocked_quantity }]);
      return level;
    },

    /** Fills a cart that only has to be completed. @returns the ids of the cart and of its payment collection */
    async fillCart(sku, data = {}) {
      const cart = await run(flows.createCartWorkflow, {
        region_id: region.id,
        sales_channel_id: channel.id,
        email: "ada@example.com",
        shipping_address: address,
        billing_address: address,
        items: [{ variant_id: await variantOf(sku), quantity: 1 }],
      });
      await run(flows.addShippingMethodToCartWorkflow, { cart_id: cart.id, options: [{ id: shipping.id }] });
      const collection = await run(flows.createPaymentCollectionForCartWorkflow, { cart_id: cart.id });
      await run(flows.createPaymentSessionsWorkflow, {
        payment_collection_id: collection.id,
        provider_id: "pp_bank_bank",
        data,
      });
      return { cartId: cart.id, collectionId: collection.id };
    },

    /** Completes a cart. @returns the order's id */
    async complete(cartId) {
      return (await run(flows.completeCartWorkflow, { id: cartId })).id;
    },

    /** Reads the payments of an order. */
    async paymentsOf(orderId) {
      const [order] = await read("order", ["payment_collections.*", "payment_collections.payments.*"], { id: orderId });
      return order.payment_collections.flatMap(({ payments }) => payments ?? []);
    },
  };
}

module.exports = { openShop };
