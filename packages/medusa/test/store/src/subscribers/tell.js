/** Logs every message that the plugin publishes, so that a test can read it. */
module.exports = {
  default: async ({ event: { name, data } }) => console.log(`EVENT ${JSON.stringify({ name, data })}`),
  config: {
    event: [...["applied", "removed", "devalued", "reversed", "needs_attention"], "order_canceled"].map(
      (name) => `giftcard.${name}`,
    ),
  },
};
