/** Runs the plugin's job each second, for a test that doesn't wait for a minute. */
const refresh = require("../../../../.medusa/server/src/jobs/refresh-events.js").default;

module.exports = {
  default: async (container) => {
    if (process.env.TEST_EVENTS_OFTEN) await refresh(container);
  },
  config: { name: "test-events", schedule: "* * * * * *" },
};
