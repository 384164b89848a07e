/** The webhooks that subscribers of the shop have received in this process. */
const heard = [];

module.exports = {
  heard,
  default: async ({ event: { data } }) => heard.push(data.payload.data),
  config: { event: "payment.webhook_received", context: { subscriberId: "shop-hear" } },
};
