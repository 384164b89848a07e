/** The plugin's own recovery, more often than each minute where a test doesn't want to wait. */
const recover = require("../../../../.medusa/server/src/jobs/recover-giftcards.js").default;

module.exports = {
  default: async (container) => {
    if (process.env.TEST_RECOVER_OFTEN) await recover(container);
  },
  config: { name: "test-recovery", schedule: "* * * * * *" },
};
