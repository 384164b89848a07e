/** Runs the plugin's recovery more often than each minute, for tests that should not wait. */
const recover = require("../../../../.medusa/server/src/jobs/recover-giftcards.js").default;

module.exports = {
  default: async (container) => {
    if (process.env.TEST_RECOVER_OFTEN) await recover(container);
  },
  config: { name: "test-recovery", schedule: "* * * * * *" },
};
