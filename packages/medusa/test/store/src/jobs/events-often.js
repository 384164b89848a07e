/** The plugin's own look at its shows, more often than each minute where a test doesn't want to wait. */
const refresh = require("../../../../.medusa/server/src/jobs/refresh-events.js").default;

module.exports = {
  default: async (container) => {
    if (process.env.TEST_EVENTS_OFTEN) await refresh(container);
  },
  config: { name: "test-events", schedule: "* * * * * *" },
};
